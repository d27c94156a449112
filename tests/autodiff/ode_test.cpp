// SPDX-License-Identifier: Apache-2.0
//
// Differential equations against closed forms: values, orders of convergence, derivatives in
// everything.
#include "tessera/autodiff/ode.h"

#include "measured.h"
#include "tensor_measures.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::difference;

const OdeOptions kTightOde{.rtol = 1e-12, .atol = 1e-14};

/// y' = -k y + sin t from y(0) = y0: y = (y0 + 1 / (k^2 + 1)) e^{-k t} + (k sin t - cos t) / (k^2 +
/// 1).
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
    for (const OdeOptions& o : {kTightOde, OdeOptions{.steps = 300},
                                OdeOptions{.method = OdeMethod::rk4, .steps = 1500}}) {
      SCOPED_TRACE(to_string(times) + " " + std::to_string(o.steps));
      const Tensor start =
          times.to_vector()[0] == 0 ? y0 : driven_exact(k, y0, select(times, 0, 0));
      EXPECT_LE(difference(driven(k, start, times, o), driven_exact(k, y0, times)), 1e-9);
      if (times.to_vector()[0] != 0) continue;
      const auto mine = [&](Tensor q) { return sum(square(driven(q, y0, times, o))); };
      const auto exact = [&](Tensor q) { return sum(square(driven_exact(q, y0, times))); };
      EXPECT_LE(difference(grad(mine)(k), grad(exact)(k)), 1e-8);
      EXPECT_LE(difference(grad(grad(mine))(k), grad(grad(exact))(k)), 1e-7);
      EXPECT_LE(difference(third(mine, k), third(exact, k)), 1e-6);
      const auto in_start = [&](Tensor q) { return sum(square(driven(k, q, times, o))); };
      EXPECT_LE(difference(grad(in_start)(y0), grad([&](Tensor q) {
                             return sum(square(driven_exact(k, q, times)));
                           })(y0)),
                1e-8);
      // Times: each output moves by its slope; the start's own time by minus the flow of its slope.
      const auto in_times = [&](Tensor q) { return sum(driven(k, y0, q, o)); };
      const Tensor g = grad(in_times)(times), slopes = sin(times) - k * driven_exact(k, y0, times);
      const Index m = times.dim(0);
      EXPECT_LE(difference(slice(g, 0, 1, m), slice(slopes, 0, 1, m)), 1e-6);
      EXPECT_LE(difference(select(g, 0, 0),
                           neg(sum(slice(exp(neg(k * times)), 0, 1, m)) * select(slopes, 0, 0))),
                1e-6);
    }
}

TEST(Ode, FixedStepsConvergeWithTheOrderOfTheMethod) {
  // y' = y cos t from 1: y = exp(sin t).
  const Tensor times = tensor({0.0, 3.0});
  for (auto [method, order] :
       {std::pair(OdeMethod::rk4, 4.0), std::pair(OdeMethod::dormand_prince, 5.0)}) {
    const auto error = [&, method = method](Index n) {
      const Tensor y = odeint([](const Tensor& t, const Tensor& v) { return v * cos(t); },
                              tensor(1.0), times, {.method = method, .steps = n})
                           .y;
      return difference(y, exp(sin(times)));
    };
    for (Index n : {40, 80}) EXPECT_NEAR(std::log2(error(n) / error(2 * n)), order, 0.2) << n;
  }
}

TEST(Ode, AdaptiveStepsMeetTheToleranceAndDependOnIt) {
  // Kepler's ellipse of eccentricity 0.6: steps differ by a factor of ten along it; energy tells
  // the error.
  const auto f = [](const Tensor&, const std::pair<Tensor, Tensor>& y) {
    const Tensor r2 = sum(square(y.first));
    return std::pair(y.second, neg(y.first) / (r2 * sqrt(r2)));
  };
  const std::pair start(tensor({0.4, 0.0}), tensor({0.0, 2.0}));
  const auto energy = [](const Tensor& q, const Tensor& v) {
    return (0.5 * sum(square(v)) - 1.0 / norm(q)).item();
  };
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
  const Tensor p = tensor({1.1, 0.4, 0.1, 0.4}), y0 = tensor({5.0, 3.0}),
               t = tensor({0.3, -0.2, 0.5, 0.1});
  const auto flow = [&](const Checkpoint& c) {
    return [&, c](Tensor q) {
      return odeint(
                 [q](const Tensor&, const Tensor& y) {
                   const Tensor a = select(y, 0, 0), b = select(y, 0, 1);
                   return stack({a * (select(q, 0, 0) - select(q, 0, 1) * b),
                                 b * (select(q, 0, 2) * a - select(q, 0, 3))});
                 },
                 y0, linspace(0, 5, 6), {.checkpoint = c})
          .y;
    };
  };
  const Tensor dy = jvp(flow(Checkpoint::all()), p, t).second,
               ct = normal(random_key(1), dy.shape());
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
  const auto f = [](Tensor k) {
    return sum(square(driven(k, tensor(1.3), linspace(0, 3, 4), {.steps = 40})));
  };
  const Tensor k = tensor({0.5, 0.8, 1.2});
  const Tensor g = vmap(grad(f))(k);
  for (Index i = 0; i < 3; ++i)
    EXPECT_LE(difference(select(g, 0, i), grad(f)(select(k, 0, i))), 1e-13);
  EXPECT_EQ(difference(jit(grad(f))(tensor(0.5)), grad(f)(tensor(0.5))), 0);
  try {
    jit([](Tensor q) { return driven(q, tensor(1.3), linspace(0, 3, 4), {}); })(tensor(0.5));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("OdeOptions::steps"), std::string::npos) << e.what();
  }
}

// ---- the continuous adjoint ----

/// Lotka and Volterra at six times; the parameters are captured.
Tensor populations(const Tensor& q, const Tensor& y0, const Tensor& times, const OdeOptions& o) {
  return odeint(
             [q](const Tensor&, const Tensor& y) {
               const Tensor a = select(y, 0, 0), b = select(y, 0, 1);
               return stack({a * (select(q, 0, 0) - select(q, 0, 1) * b),
                             b * (select(q, 0, 2) * a - select(q, 0, 3))});
             },
             y0, times, o)
      .y;
}
const Tensor kRates = tensor({1.1, 0.4, 0.1, 0.4}), kStart = tensor({5.0, 3.0});

TEST(Ode, BothAdjointsAgreeToTheTolerance) {
  const Tensor times = linspace(0, 5, 6), w = normal(random_key(1), {6, 2}),
               t = tensor({0.3, -0.2, 0.5, 0.1});
  const auto loss = [&](const OdeOptions& o) {
    return [&, o](Tensor q, Tensor y0, Tensor at) {
      return sum(w * square(populations(q, y0, at, o)));
    };
  };
  double worst_first = 0;
  for (double rtol : {1e-6, 1e-8, 1e-10}) {
    const OdeOptions discrete{.rtol = rtol, .atol = rtol},
        continuous{.rtol = rtol, .atol = rtol, .adjoint = OdeAdjoint::continuous};
    const auto [y, back] = vjp(loss(discrete), kRates, kStart, times);
    const auto [z, pull] = vjp(loss(continuous), kRates, kStart, times);
    EXPECT_LE(difference(y, z), 1e3 * rtol * std::abs(y.item()));
    const auto a = back(tensor(1.0)), b = pull(tensor(1.0));
    const auto relative = [](const Tensor& u, const Tensor& v) {
      return (norm(u - v) / norm(v)).item();
    };
    const double first = std::max({relative(std::get<0>(b), std::get<0>(a)),
                                   relative(std::get<1>(b), std::get<1>(a)),
                                   relative(std::get<2>(b), std::get<2>(a))});
    EXPECT_LE(first, 1e3 * rtol);
    worst_first = first;
    // Second order: Hessian times vector, forward over reverse and reverse over forward.
    const auto of_rates = [&](const OdeOptions& o) {
      return [&, o](Tensor q) { return loss(o)(q, kStart, times); };
    };
    const Tensor h = hvp(of_rates(discrete), kRates, t);
    EXPECT_LE(relative(hvp(of_rates(continuous), kRates, t), h), 1e4 * rtol);
    EXPECT_LE(
        relative(grad([&](Tensor q) { return jvp(of_rates(continuous), q, t).second; })(kRates), h),
        1e4 * rtol);
  }
  test::measured("ode_adjoints_difference", worst_first);
}

TEST(Ode, ContinuousDerivativesFollowTheClosedFormToThirdOrder) {
  const Tensor k = tensor(0.8), y0 = tensor(1.3), times = linspace(0, 3, 4);
  const OdeOptions o{.rtol = 1e-11, .atol = 1e-13, .adjoint = OdeAdjoint::continuous};
  const auto mine = [&](Tensor q) { return sum(square(driven(q, y0, times, o))); };
  const auto exact = [&](Tensor q) { return sum(square(driven_exact(q, y0, times))); };
  EXPECT_LE(difference(mine(k), exact(k)), 1e-9);
  EXPECT_LE(difference(grad(mine)(k), grad(exact)(k)), 1e-9);
  EXPECT_LE(difference(grad(grad(mine))(k), grad(grad(exact))(k)), 1e-8);
  EXPECT_LE(difference(grad(grad(grad(mine)))(k), grad(grad(grad(exact)))(k)), 1e-7);
  const auto forward = [](auto f) {
    return [f](Tensor q) { return jvp(f, q, tensor(1.0)).second; };
  };
  EXPECT_LE(difference(forward(forward(mine))(k), grad(grad(exact))(k)), 1e-8);
  // Complex states, and a tangent of the starting time.
  const Tensor rate = tensor({1.0, 2.5});
  const auto flow = [&](Tensor q) {
    return odeint([q](const Tensor&, const Tensor& y) { return c128(0, 1) * (q * y); },
                  ones({2}, Dtype::c128), tensor({0.0, 0.7, 2.0}), o)
        .y;
  };
  const Tensor at = tensor({0.0, 0.7, 2.0});
  EXPECT_LE(difference(grad([&](Tensor q) { return sum(real(flow(q))); })(rate),
                       neg(sum(expand_dims(at, 1) * sin(outer(at, rate)), {0}))),
            1e-9);
}

TEST(Ode, ContinuousReverseIsTheAdjointOfForward) {
  const OdeOptions o{.rtol = 1e-12, .atol = 1e-12, .adjoint = OdeAdjoint::continuous};
  const auto flow = [&](Tensor q, Tensor y0) { return populations(q, y0, linspace(0, 5, 6), o); };
  const Tensor t = tensor({0.3, -0.2, 0.5, 0.1}), u = tensor({0.2, -0.7});
  const Tensor dy = jvp([&](const std::pair<Tensor, Tensor>& x) { return flow(x.first, x.second); },
                        std::pair(kRates, kStart), std::pair(t, u))
                        .second;
  const Tensor ct = normal(random_key(1), dy.shape());
  const auto g = vjp(flow, kRates, kStart).second(ct);
  const double left = sum(ct * dy).item(),
               right = sum(std::get<0>(g) * t).item() + sum(std::get<1>(g) * u).item();
  const double defect = std::abs(left - right) / sum(abs(ct * dy)).item();
  EXPECT_LE(defect, 1e-9);
  test::measured("ode_continuous_adjoint_identity", defect);
}

TEST(Ode, TaylorRemaindersOfBothAdjoints) {
  // f(q + h t) - f - h g t - h^2/2 t H t falls with slope 3.
  const Tensor t = tensor({0.3, -0.2, 0.05, 0.1});
  for (OdeAdjoint adjoint : {OdeAdjoint::discrete, OdeAdjoint::continuous}) {
    const OdeOptions o{.rtol = 1e-12, .atol = 1e-12, .adjoint = adjoint};
    const auto f = [&](Tensor q) {
      return sum(square(populations(q, kStart, linspace(0, 4, 3), o)));
    };
    const double f0 = f(kRates).item(), g = sum(grad(f)(kRates) * t).item(),
                 c = sum(hvp(f, kRates, t) * t).item();
    const auto remainder = [&](double h, bool second) {
      return std::abs(f(kRates + h * t).item() - f0 - h * g - (second ? 0.5 * h * h * c : 0));
    };
    EXPECT_NEAR(std::log2(remainder(0.02, false) / remainder(0.01, false)), 2, 0.05);
    EXPECT_NEAR(std::log2(remainder(0.02, true) / remainder(0.01, true)), 3, 0.1);
  }
}

TEST(Ode, ContinuousStepsAreChosenInsidePlansAndBatches) {
  const OdeOptions o{.rtol = 1e-9, .atol = 1e-11, .adjoint = OdeAdjoint::continuous};
  const auto f = [&](Tensor k) {
    return sum(square(driven(k, tensor(1.3), linspace(0, 3, 4), o)));
  };
  const Tensor k = tensor({0.5, 0.8, 12.0});
  const Tensor g = vmap(grad(f))(k), h = vmap(grad(grad(f)))(k),
               all = grad([&](Tensor q) { return sum(vmap(f)(q)); })(k);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_EQ(difference(select(g, 0, i), grad(f)(select(k, 0, i))), 0);
    EXPECT_LE(difference(select(h, 0, i), grad(grad(f))(select(k, 0, i))), 1e-13);
    EXPECT_LE(difference(select(all, 0, i), grad(f)(select(k, 0, i))), 1e-13);
  }
  EXPECT_EQ(difference(jit(grad(f))(tensor(0.5)), grad(f)(tensor(0.5))), 0);
  const auto s =
      odeint([](const Tensor&, const Tensor& y) { return square(y); }, tensor(1.0),
             tensor({0.0, 0.5, 2.0, 3.0}), {.max_steps = 3000, .adjoint = OdeAdjoint::continuous});
  EXPECT_LT(s.reason.item<std::int32_t>(), 0);
  EXPECT_NEAR(s.y.to_vector()[1], 2, 1e-6);
  EXPECT_TRUE(std::isnan(s.y.to_vector()[2]) && std::isnan(s.y.to_vector()[3]));
}

TEST(Ode, ComplexStatesRotate) {
  const Tensor w = tensor({1.0, 2.5});
  const auto flow = [](Tensor q) {
    const auto rate = [q](const Tensor&, const Tensor& y) { return c128(0, 1) * (q * y); };
    return odeint(rate, ones({2}, Dtype::c128), tensor({0.0, 0.7, 2.0}), kTightOde).y;
  };
  const Tensor phase = outer(tensor({0.0, 0.7, 2.0}), w),
               exact = tessera::complex(cos(phase), sin(phase));
  EXPECT_LE(difference(flow(w), exact), 1e-9);
  EXPECT_LE(difference(grad([&](Tensor q) { return sum(real(flow(q))); })(w),
                       neg(sum(expand_dims(tensor({0.0, 0.7, 2.0}), 1) * sin(phase), {0}))),
            1e-8);
}

// Nothing hangs on where time begins: y' = 1 - y from 0 is 1 - e^-t, also where the first step that
// y alone would choose (it is 0, and has no size) is lost in the rounding of t.
TEST(Ode, TimeMayBeginFarFromZero) {
  const auto rate = [](const Tensor&, const Tensor& y) { return 1.0 - y; };
  for (const double begin : {0.0, 1.7e9, -4e10, 1e12})
    for (const double span : {0.5, -0.5})
      for (const OdeAdjoint adjoint : {OdeAdjoint::discrete, OdeAdjoint::continuous}) {
        const auto s =
            odeint(rate, tensor(0.0), tensor({begin, begin + span}), {.adjoint = adjoint});
        EXPECT_GT(s.reason.item<std::int32_t>(), 0) << begin << ", " << span;
        EXPECT_NEAR(s.y.to_vector()[1], -std::expm1(-span), 1e-6) << begin << ", " << span;
      }
}

// Without an absolute tolerance a component that begins at 0 has no size to be measured by.
TEST(Ode, RelativeTolerancesAloneFollowWhatBeginsAtZero) {
  const auto rate = [](const Tensor&, const Tensor& y) {
    return stack({neg(select(y, 0, 0)), select(y, 0, 0)});
  };
  const auto s = odeint(rate, tensor({1.0, 0.0}), tensor({0.0, 1.0}), {.rtol = 1e-8, .atol = 0});
  EXPECT_GT(s.reason.item<std::int32_t>(), 0);
  EXPECT_NEAR(s.y.to_vector()[3], -std::expm1(-1.0), 1e-6);
}

// Nor has one that stays there, as the height of an orbit in a plane; it has no error either.
TEST(Ode, RelativeTolerancesAloneFollowWhatStaysAtZero) {
  const auto decay = [](const Tensor&, const Tensor& y) { return neg(y); };
  for (const OdeAdjoint adjoint : {OdeAdjoint::discrete, OdeAdjoint::continuous}) {
    const auto s = odeint(decay, tensor({1.0, 0.0}), tensor({0.0, 1.0}),
                          {.rtol = 1e-8, .atol = 0, .adjoint = adjoint});
    EXPECT_GT(s.reason.item<std::int32_t>(), 0);
    EXPECT_NEAR(s.y.to_vector()[2], std::exp(-1.0), 1e-7);
    EXPECT_EQ(s.y.to_vector()[3], 0);
  }
}

TEST(Ode, FailuresAreSeen) {
  // y' = y^2 from 1 goes to infinity at t = 1.
  const auto s = odeint([](const Tensor&, const Tensor& y) { return square(y); }, tensor(1.0),
                        tensor({0.0, 0.5, 2.0}), {.max_steps = 3000});
  EXPECT_LT(s.reason.item<std::int32_t>(), 0);
  const auto y = s.y.to_vector();
  EXPECT_NEAR(y[1], 2, 1e-6);
  EXPECT_TRUE(std::isnan(y[2]));
  const auto few = odeint([](const Tensor&, const Tensor& v) { return neg(v); }, tensor(1.0),
                          tensor({0.0, 5.0}), {.max_steps = 3});
  EXPECT_EQ(few.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::iterations));
  for (const double start : {std::nan(""), HUGE_VAL}) {
    const auto none = odeint([](const Tensor&, const Tensor& v) { return neg(v); }, tensor(start),
                             tensor({0.0, 5.0}));
    EXPECT_EQ(none.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::not_finite));
  }
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto decay = [](const Tensor&, const Tensor& v) { return neg(v); };
  EXPECT_NE(message([&] {
              odeint(decay, ones({2}), tensor({0.0, 1.0, 0.5}));
            }).find("times[2]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              odeint(decay, ones({2}), tensor({0.0, 1.0}), {.method = OdeMethod::rk4});
            }).find("steps"),
            std::string::npos);
  // As of (t1 - t0) / dt where times fall.
  for (const OdeAdjoint adjoint : {OdeAdjoint::discrete, OdeAdjoint::continuous}) {
    const auto said_of = [&](OdeOptions o) {
      o.adjoint = adjoint;
      return message([&] { odeint(decay, ones({2}), tensor({1.0, 0.0}), o); });
    };
    EXPECT_NE(said_of({.steps = -3}).find("OdeOptions::steps"), std::string::npos);
    EXPECT_NE(said_of({.steps = -3}).find("got -3"), std::string::npos);
    EXPECT_NE(said_of({.max_steps = 0}).find("max_steps is 1 or more, got 0"), std::string::npos);
    EXPECT_NE(said_of({.max_steps = -1}).find("max_steps is 1 or more"), std::string::npos);
  }
  EXPECT_NE(message([&] {
              odeint([](const Tensor&, const Tensor& v) { return sum(v); }, ones({2}),
                     tensor({0.0, 1.0}));
            }).find("f64[2]; it gave f64[]"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera
