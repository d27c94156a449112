// SPDX-License-Identifier: Apache-2.0
//
// Differential equations against closed forms: values, orders of convergence, derivatives in everything.
#include "tessera/autodiff/ode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  return a.size() ? max(abs(a - b)).item() : 0;
}
const OdeOptions kTight{.rtol = 1e-12, .atol = 1e-14};

/// y' = -k y + sin t from y(0) = y0: y = (y0 + 1 / (k^2 + 1)) e^{-k t} + (k sin t - cos t) / (k^2 + 1).
Tensor driven(const Tensor& k, const Tensor& y0, const Tensor& times, const OdeOptions& o) {
  return odeint([k](const Tensor& t, const Tensor& y) { return sin(t) - k * y; }, y0, times, o).y;
}
Tensor driven_exact(const Tensor& k, const Tensor& y0, const Tensor& times) {
  const Tensor d = square(k) + 1.0;
  return (y0 + 1.0 / d) * exp(neg(k * times)) + (k * sin(times) - cos(times)) / d;
}

TEST(Ode, ValuesAndDerivativesToThirdOrderFollowTheClosedForm) {
  const Tensor k = tensor(0.8), y0 = tensor(1.3);
  const auto third = [](auto f, const Tensor& x) { return grad(grad(grad(f)))(x); };
  for (const Tensor& times : {linspace(0, 3, 7), tensor({0.0, 3.0}), linspace(3, 0, 4)})
    for (const OdeOptions& o : {kTight, OdeOptions{.steps = 300}, OdeOptions{.method = OdeMethod::rk4, .steps = 1500}}) {
      SCOPED_TRACE(to_string(times) + " " + std::to_string(o.steps));
      const Tensor start = times.to_vector()[0] == 0 ? y0 : driven_exact(k, y0, select(times, 0, 0));
      EXPECT_LE(difference(driven(k, start, times, o), driven_exact(k, y0, times)), 1e-9);
      if (times.to_vector()[0] != 0) continue;
      const auto mine = [&](Tensor q) { return sum(square(driven(q, y0, times, o))); };
      const auto exact = [&](Tensor q) { return sum(square(driven_exact(q, y0, times))); };
      EXPECT_LE(difference(grad(mine)(k), grad(exact)(k)), 1e-8);
      EXPECT_LE(difference(grad(grad(mine))(k), grad(grad(exact))(k)), 1e-7);
      EXPECT_LE(difference(third(mine, k), third(exact, k)), 1e-6);
      const auto in_start = [&](Tensor q) { return sum(square(driven(k, q, times, o))); };
      EXPECT_LE(difference(grad(in_start)(y0), grad([&](Tensor q) { return sum(square(driven_exact(k, q, times))); })(y0)), 1e-8);
      // Times: each output moves by its slope; the start's own time by minus the flow of its slope.
      const auto in_times = [&](Tensor q) { return sum(driven(k, y0, q, o)); };
      const Tensor g = grad(in_times)(times), slopes = sin(times) - k * driven_exact(k, y0, times);
      const Index m = times.dim(0);
      EXPECT_LE(difference(slice(g, 0, 1, m), slice(slopes, 0, 1, m)), 1e-6);
      EXPECT_LE(difference(select(g, 0, 0), neg(sum(slice(exp(neg(k * times)), 0, 1, m)) * select(slopes, 0, 0))), 1e-6);
    }
}

TEST(Ode, FixedStepsConvergeWithTheOrderOfTheMethod) {
  // y' = y cos t from 1: y = exp(sin t).
  const Tensor times = tensor({0.0, 3.0});
  for (auto [method, order] : {std::pair(OdeMethod::rk4, 4.0), std::pair(OdeMethod::dormand_prince, 5.0)}) {
    const auto error = [&, method = method](Index n) {
      const Tensor y = odeint([](const Tensor& t, const Tensor& v) { return v * cos(t); }, tensor(1.0), times, {.method = method, .steps = n}).y;
      return difference(y, exp(sin(times)));
    };
    for (Index n : {40, 80}) EXPECT_NEAR(std::log2(error(n) / error(2 * n)), order, 0.2) << n;
  }
}

TEST(Ode, AdaptiveStepsMeetTheToleranceAndDependOnIt) {
  // Kepler's ellipse of eccentricity 0.6: steps differ by a factor of ten along it; energy tells the error.
  const auto f = [](const Tensor&, const std::pair<Tensor, Tensor>& y) {
    const Tensor r2 = sum(square(y.first));
    return std::pair(y.second, neg(y.first) / (r2 * sqrt(r2)));
  };
  const std::pair start(tensor({0.4, 0.0}), tensor({0.0, 2.0}));
  const auto energy = [](const Tensor& q, const Tensor& v) { return (0.5 * sum(square(v)) - 1.0 / norm(q)).item(); };
  std::int32_t before = 0;
  for (double rtol : {1e-6, 1e-9, 1e-12}) {
    const auto s = odeint(f, start, tensor({0.0, 20.0}), {.rtol = rtol, .atol = rtol});
    EXPECT_EQ(s.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::converged));
    EXPECT_NEAR(energy(select(s.y.first, 0, 1), select(s.y.second, 0, 1)), -0.5, 200 * rtol);
    EXPECT_GT(s.steps.item<std::int32_t>(), before);
    before = s.steps.item<std::int32_t>();
  }
}

TEST(Ode, ReverseIsTheAdjointOfForwardUnderEveryCheckpointPolicy) {
  // Lotka and Volterra; the state is a vector, the parameters a captured one.
  const Tensor p = tensor({1.1, 0.4, 0.1, 0.4}), y0 = tensor({5.0, 3.0}), t = tensor({0.3, -0.2, 0.5, 0.1});
  const auto flow = [&](const Checkpoint& c) {
    return [&, c](Tensor q) {
      return odeint([q](const Tensor&, const Tensor& y) {
        const Tensor a = select(y, 0, 0), b = select(y, 0, 1);
        return stack({a * (select(q, 0, 0) - select(q, 0, 1) * b), b * (select(q, 0, 2) * a - select(q, 0, 3))});
      }, y0, linspace(0, 5, 6), {.checkpoint = c}).y;
    };
  };
  const Tensor dy = jvp(flow(Checkpoint::all()), p, t).second, ct = normal(random_key(1), dy.shape());
  Tensor first;
  for (const Checkpoint& c : {Checkpoint::all(), Checkpoint::every(7)}) {
    const auto [y, pull] = vjp(flow(c), p);
    const Tensor g = pull(ct);
    EXPECT_NEAR(sum(ct * dy).item(), sum(g * t).item(), 1e-11 * sum(abs(ct * dy)).item());
    if (!first.defined()) first = g;
    EXPECT_LE(difference(g, first), 1e-12 * max(abs(first)).item());
  }
}

TEST(Ode, PlansAndBatchesTakeEqualSteps) {
  const auto f = [](Tensor k) { return sum(square(driven(k, tensor(1.3), linspace(0, 3, 4), {.steps = 40}))); };
  const Tensor k = tensor({0.5, 0.8, 1.2});
  const Tensor g = vmap(grad(f))(k);
  for (Index i = 0; i < 3; ++i) EXPECT_LE(difference(select(g, 0, i), grad(f)(select(k, 0, i))), 1e-13);
  EXPECT_EQ(difference(jit(grad(f))(tensor(0.5)), grad(f)(tensor(0.5))), 0);
  try {
    jit([](Tensor q) { return driven(q, tensor(1.3), linspace(0, 3, 4), {}); })(tensor(0.5));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("OdeOptions::steps"), std::string::npos) << e.what();
  }
}

TEST(Ode, ComplexStatesRotate) {
  const Tensor w = tensor({1.0, 2.5});
  const auto flow = [](Tensor q) { return odeint([q](const Tensor&, const Tensor& y) { return c128(0, 1) * (q * y); }, ones({2}, Dtype::c128), tensor({0.0, 0.7, 2.0}), kTight).y; };
  const Tensor phase = outer(tensor({0.0, 0.7, 2.0}), w), exact = tessera::complex(cos(phase), sin(phase));
  EXPECT_LE(difference(flow(w), exact), 1e-9);
  EXPECT_LE(difference(grad([&](Tensor q) { return sum(real(flow(q))); })(w), neg(sum(expand_dims(tensor({0.0, 0.7, 2.0}), 1) * sin(phase), {0}))), 1e-8);
}

TEST(Ode, FailuresAreSeen) {
  // y' = y^2 from 1 goes to infinity at t = 1.
  const auto s = odeint([](const Tensor&, const Tensor& y) { return square(y); }, tensor(1.0), tensor({0.0, 0.5, 2.0}), {.max_steps = 3000});
  EXPECT_LT(s.reason.item<std::int32_t>(), 0);
  const auto y = s.y.to_vector();
  EXPECT_NEAR(y[1], 2, 1e-6);
  EXPECT_TRUE(std::isnan(y[2]));
  const auto few = odeint([](const Tensor&, const Tensor& v) { return neg(v); }, tensor(1.0), tensor({0.0, 5.0}), {.max_steps = 3});
  EXPECT_EQ(few.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::iterations));
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto decay = [](const Tensor&, const Tensor& v) { return neg(v); };
  EXPECT_NE(message([&] { odeint(decay, ones({2}), tensor({0.0, 1.0, 0.5})); }).find("times[2]"), std::string::npos);
  EXPECT_NE(message([&] { odeint(decay, ones({2}), tensor({0.0, 1.0}), {.method = OdeMethod::rk4}); }).find("steps"), std::string::npos);
  EXPECT_NE(message([&] { odeint([](const Tensor&, const Tensor& v) { return sum(v); }, ones({2}), tensor({0.0, 1.0})); }).find("f64[2]; it gave f64[]"), std::string::npos);
}

}  // namespace
}  // namespace tessera
