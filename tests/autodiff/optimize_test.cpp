// SPDX-License-Identifier: Apache-2.0
//
// Optimizer steps against the formulas written out for one number, their derivatives with respect
// to the rate, and the iterations' reasons to stop. How the iterations do on hard functions is in
// mgh_test.cpp.
#include "tessera/autodiff/optimize.h"

#include "error_text.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

std::vector<double> rates(const Schedule& s, std::initializer_list<double> steps) {
  std::vector<double> v;
  for (const double k : steps) v.push_back(s(Tensor(k)).item());
  return v;
}
void expect_rates(const Schedule& s, std::initializer_list<double> steps,
                  std::initializer_list<double> want) {
  const auto got = rates(s, steps);
  auto w = want.begin();
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], *w++, 1e-15) << "entry " << k;
}

TEST(Schedules, FollowTheirFormulas) {
  expect_rates(constant_rate(0.3), {0, 7}, {0.3, 0.3});
  expect_rates(step_rate(0.8, 10, 0.5), {0, 9, 10, 25}, {0.8, 0.8, 0.4, 0.2});
  expect_rates(exponential_rate(0.8, 10, 0.25), {0, 5, 10}, {0.8, 0.4, 0.2});
  expect_rates(cosine_rate(1.0, 100, 0.1), {0, 50, 100, 200}, {1, 0.55, 0.1, 0.1});
  expect_rates(warmup(4, cosine_rate(1.0, 10)), {0, 1, 3, 4, 9}, {0.25, 0.5, 1, 1, 0.5});
  expect_rates(one_cycle(2.0, 100, 0.25, 0.1, 0.01), {0, 12.5, 25, 62.5, 100},
               {0.2, 1.1, 2, 1.01, 0.02});
  EXPECT_THROW(cosine_rate(1.0, 0), Error);
  EXPECT_THROW(one_cycle(1.0, 10, 1.5), Error);
  EXPECT_THROW(warmup(-4, constant_rate(1.0)), Error);  // rates below 0
}

/// x after `steps` steps on x^4 / 4 - x from x = 2, by the engine.
double by_engine(const Optimizer& o, int steps) {
  Tensor x(2.0);
  OptimizerState s = o.init(x);
  for (int k = 0; k < steps; ++k) std::tie(x, s) = o.update(x, x * x * x - 1.0, s);
  EXPECT_EQ(s.step.item(), steps);
  return x.item();
}
double slope(double x) { return x * x * x - 1; }

TEST(Steps, SgdWithMomentum) {
  double x = 2, m = 0, n = 2, v = 0;
  for (int k = 0; k < 5; ++k) {
    m = 0.9 * m + slope(x) + 0.1 * x, x -= 0.01 * m;
    const double g = slope(n);
    v = 0.9 * v + g, n -= 0.01 * (g + 0.9 * v);
  }
  EXPECT_NEAR(by_engine(sgd(constant_rate(0.01), {.momentum = 0.9, .weight_decay = 0.1}), 5), x,
              1e-14);
  EXPECT_NEAR(by_engine(sgd(constant_rate(0.01), {.momentum = 0.9, .nesterov = true}), 5), n,
              1e-14);
  EXPECT_NEAR(by_engine(sgd(constant_rate(0.01)), 1), 2 - 0.01 * slope(2), 1e-15);
}

TEST(Steps, AdamAdamwLionLamb) {
  const double b1 = 0.9, b2 = 0.999, rate = 0.05;
  double x = 2, m = 0, v = 0, xw = 2, mw = 0, vw = 0, xl = 2, ml = 0, xb = 2, mb = 0, vb = 0;
  for (int k = 1; k <= 5; ++k) {
    const auto adam_part = [&](double g, double& m, double& v, double eps) {
      m = b1 * m + (1 - b1) * g, v = b2 * v + (1 - b2) * g * g;
      return m / (1 - std::pow(b1, k)) / (std::sqrt(v / (1 - std::pow(b2, k))) + eps);
    };
    x -= rate * adam_part(slope(x), m, v, 1e-8);
    const double d = adam_part(slope(xw), mw, vw, 1e-8);
    xw -= rate * (d + 0.01 * xw);
    const double g = slope(xl), c = 0.9 * ml + 0.1 * g;
    xl -= rate * ((c > 0) - (c < 0) + 0.2 * xl);
    ml = 0.99 * ml + 0.01 * g;
    const double e = adam_part(slope(xb), mb, vb, 1e-6);
    xb -= rate * std::abs(xb) / std::abs(e) * e;
  }
  EXPECT_NEAR(by_engine(adam(constant_rate(rate)), 5), x, 1e-14);
  EXPECT_NEAR(by_engine(adamw(constant_rate(rate)), 5), xw, 1e-14);
  EXPECT_NEAR(by_engine(lion(constant_rate(rate), {.weight_decay = 0.2}), 5), xl, 1e-14);
  EXPECT_NEAR(by_engine(lamb(constant_rate(rate)), 5), xb, 1e-14);
}

TEST(Steps, LbfgsOfAQuadraticEndsInItsMinimum) {
  // With all changes in memory and exact first steps, BFGS directions on a quadratic of n = 3
  // become Newton's.
  const Tensor a = tensor({3.0, 1.0, 0.5, 1.0, 2.0, 0.2, 0.5, 0.2, 1.0}, {3, 3}),
               b = tensor({1.0, -2.0, 0.5});
  const auto f = [&](Tensor x) { return 0.5 * dot(x, matmul(a, x)) - dot(b, x); };
  Tensor x = zeros({3});
  const Optimizer o =
      lbfgs_steps([](const Tensor& step) { return where(step < 1.0, 0.3, 1.0); }, 5);
  OptimizerState s = o.init(x);
  for (int k = 0; k < 25; ++k) std::tie(x, s) = o.update(x, grad(f)(x), s);
  EXPECT_LT(max(abs(x - solve(a, b))).item(), 1e-9);
  EXPECT_THROW(o.init(cast(x, Dtype::c128)), Error);
}

TEST(Steps, StateIsKnownByItsNames) {
  const auto names = [](const Optimizer& o) {
    std::string all;
    for (const OptimizerSlot& s : o.init(ones({2})).slots)
      all += s.name + " " + std::to_string(s.leaves.size()) + " ";
    return all;
  };
  const Schedule rate = constant_rate(0.1);
  EXPECT_EQ(names(sgd(rate)), "");
  EXPECT_EQ(names(sgd(rate, {.momentum = 0.5})), "momentum 1 ");
  EXPECT_EQ(names(lion(rate)), "momentum 1 ");
  EXPECT_EQ(names(adam(rate)), "first_moment 1 second_moment 1 ");
  EXPECT_EQ(names(lamb(rate)), "first_moment 1 second_moment 1 ");
  EXPECT_EQ(names(lbfgs_steps(rate, 3)), "s 3 y 3 x 1 g 1 ");
  // In another order it is the same state; that of another optimizer is none.
  const Tensor x = tensor({1.0, -2.0});
  OptimizerState s = adam(rate).init(x), turned = s;
  std::swap(turned.slots[0], turned.slots[1]);
  Tensor p = x, q = x;
  for (int k = 0; k < 3; ++k) {
    std::tie(p, s) = adam(rate).update(p, p, s);
    std::tie(q, turned) = adam(rate).update(q, q, turned);
  }
  EXPECT_EQ(p.to_vector(), q.to_vector());
  const std::string said =
      testing::message_of([&] { adam(rate).update(x, x, lion(rate).init(x)); });
  EXPECT_NE(said.find("no slot 'first_moment'"), std::string::npos) << said;
  // Nor is that of other parameters, or of another memory.
  const std::vector<Tensor> one{x}, two{x, x};
  const auto misfit = [](const std::string& slot) {
    return "slot '" + slot + "' of the state does not fit";
  };
  EXPECT_NE(testing::message_of([&] {
              adam(rate).update(two, two, adam(rate).init(one));
            }).find(misfit("first_moment")),
            std::string::npos);
  EXPECT_NE(testing::message_of([&] {
              adam(rate).update(x, x, adam(rate).init(ones({3})));
            }).find(misfit("first_moment")),
            std::string::npos);
  EXPECT_NE(testing::message_of([&] {
              lbfgs_steps(rate, 3).update(x, x, lbfgs_steps(rate, 2).init(x));
            }).find(misfit("s")),
            std::string::npos);
}

TEST(Steps, TakeTreesAndRunInsideJit) {
  struct Layer {
    Tensor w, b;
    TESSERA_TREE(w, b)
  };
  const Tensor x = reshape(linspace(-1, 1, 12), {4, 3}), y = tensor({1.0, -1.0, 0.5, 0.2});
  const auto loss = [&](const Layer& p) { return mean(square(matmul(x, p.w) + p.b - y)); };
  for (const Optimizer& o :
       {adam(cosine_rate(0.05, 200)), sgd(constant_rate(0.2), {.momentum = 0.5}),
        lamb(constant_rate(0.05)), lbfgs_steps(constant_rate(0.5))}) {
    Layer p{tensor({0.1, 0.2, -0.1}), Tensor(0.3)}, q = p;
    OptimizerState s = o.init(p), t = s;
    const auto step = [&](const Layer& p, const OptimizerState& s) {
      return o.update(p, grad(loss)(p), s);
    };
    const auto planned = jit(step);
    for (int k = 0; k < 30; ++k) {
      std::tie(p, s) = step(p, s);
      std::tie(q, t) = planned(q, t);
    }
    EXPECT_LT(loss(p).item(), 0.535) << o.name;  // 0.589 at first, 0.531 at least
    EXPECT_EQ(p.w.to_vector(), q.w.to_vector()) << o.name;
    EXPECT_EQ(p.b.item(), q.b.item()) << o.name;
  }
  const Optimizer o = adam(constant_rate(0.1));
  EXPECT_THROW(o.update(ones({3}), ones({2}), o.init(ones({3}))), Error);
}

TEST(Steps, KeepSinglePrecisionAndTakeComplexNumbers) {
  for (const Optimizer& o :
       {adam(constant_rate(0.1)), lion(constant_rate(0.1)), lamb(constant_rate(0.1)),
        sgd(constant_rate(0.1), {.momentum = 0.9})}) {
    const Tensor x = ones({2}, Dtype::f32);
    EXPECT_EQ(o.update(x, x, o.init(x)).first.dtype(), Dtype::f32) << o.name;
    // |z - c|^2 is least at c; grad is 2 (z - c).
    const Tensor c = tensor<c128>({{1, -2}, {0.5, 3}});
    Tensor z = tensor<c128>({{0, 0.5}, {0.1, 0}});
    OptimizerState s = o.init(z);
    const auto f = [&](Tensor z) { return sum(square(abs(z - c))); };
    const double before = f(z).item();
    for (int k = 0; k < 20; ++k) std::tie(z, s) = o.update(z, grad(f)(z), s);
    EXPECT_LT(f(z).item(), 0.6 * before) << o.name;
  }
}

TEST(Steps, HaveDerivativesWithRespectToTheRate) {
  // The loss after eight steps as a function of the rate and of the start: against differences, to
  // second order.
  const auto loss = [](const Tensor& x) {
    return sum(square(square(x) - tensor({1.0, 2.0}))) + prod(x);
  };
  using Make = std::function<Optimizer(Tensor)>;
  const std::vector<Make> makers{
      [](Tensor r) { return sgd(constant_rate(r), {.momentum = 0.8, .nesterov = true}); },
      [](Tensor r) { return adam(warmup(3, cosine_rate(r, 10))); },
      [](Tensor r) { return adamw(one_cycle(r, 8)); },
      [](Tensor r) { return lamb(exponential_rate(r, 4, 0.5)); },
      [](Tensor r) { return lion(step_rate(r, 3, 0.5)); },
      [](Tensor r) { return lbfgs_steps(constant_rate(r), 3); },
  };
  for (const Make& make : makers) {
    const auto after = [&](Tensor rate, Tensor start) {
      const Optimizer o = make(rate);
      Tensor x = start;
      OptimizerState s = o.init(x);
      for (int k = 0; k < 8; ++k) std::tie(x, s) = o.update(x, grad(loss)(x), s);
      return loss(x);
    };
    const CheckReport r = gradcheck(after, std::tuple(Tensor(0.02), tensor({1.3, 0.7})),
                                    {.order = 2, .rtol = 1e-6, .step = 1e-3});
    EXPECT_TRUE(r) << make(Tensor(0.1)).name << ": " << to_string(r);
  }
}

TEST(Steps, GaussNewtonStepSolvesLinearProblemsAtOnceAndDifferentiates) {
  const Tensor a = reshape(linspace(-1, 2, 15), {5, 3}) * reshape(linspace(1, 3, 15), {5, 3}),
               b = linspace(0, 1, 5);
  const auto linear = [&](Tensor x) { return matmul(a, x) - b; };
  const Tensor x = tensor({0.3, -2.0, 1.0}), want = reshape(lstsq(a, reshape(b, {5, 1})), {3});
  EXPECT_LT(max(abs(gauss_newton_step(linear, x, 0.0) - want)).item(), 1e-9);
  const auto step = [&](Tensor damping, Tensor x) {
    return gauss_newton_step([&](Tensor y) { return exp(0.3 * matmul(a, y)) - b; }, x, damping);
  };
  const CheckReport r = gradcheck(step, std::tuple(Tensor(0.5), x), {.step = 5e-3});
  EXPECT_TRUE(r) << to_string(r);
  // A step in single precision stays there, whatever says the damping.
  const Tensor a32 = cast(a, Dtype::f32), b32 = cast(b, Dtype::f32), x32 = cast(x, Dtype::f32);
  const auto single = [&](Tensor y) { return matmul(a32, y) - b32; };
  EXPECT_EQ(gauss_newton_step(single, x32, 0.5).type(), x32.type());
  EXPECT_EQ(gauss_newton_step(single, x32, Tensor(0.5)).type(), x32.type());
}

TEST(Clipping, LimitsValuesAndNorms) {
  const std::pair<Tensor, Tensor> g{tensor({3.0, -4.0}), tensor<c128>({{0, 12}})};
  EXPECT_EQ(global_norm(g).item(), 13);
  EXPECT_EQ(clip_by_value(g, 2.0).first.to_vector(), (std::vector<double>{2, -2}));
  EXPECT_EQ(clip_by_value(g, 2.0).second.to_vector<c128>()[0], c128(0, 2));
  EXPECT_NEAR(global_norm(clip_by_norm(g, 6.5)).item(), 6.5, 1e-14);
  EXPECT_EQ(clip_by_norm(g, 20.0).first.to_vector(), g.first.to_vector());
  const auto clipped = [](Tensor x) { return sum(clip_by_norm(x, 1.0) * tensor({1.0, 2.0})); };
  EXPECT_TRUE(gradcheck(clipped, tensor({3.0, -4.0}), {.order = 2}));
  EXPECT_EQ(grad([](Tensor x) { return global_norm(x); })(zeros({3})).to_vector(),
            (std::vector<double>{0, 0, 0}));
}

TEST(Clipping, ToNothingIsNothing) {
  EXPECT_EQ(clip_by_norm(zeros({2}), 0.0).to_vector(), (std::vector<double>{0, 0}));
  EXPECT_EQ(clip_by_norm(tensor({3.0, 4.0}), 0.0).to_vector(), (std::vector<double>{0, 0}));
  EXPECT_EQ(clip_by_value(tensor<c128>({{0, 0}, {1, 1}}), 0.0).to_vector<c128>(),
            (std::vector<c128>{0, 0}));
}

TEST(Clipping, ToInfinityChangesNothing) {
  const std::pair<Tensor, Tensor> g{tensor({3.0, -4.0}), tensor<c128>({{0, 12}})};
  for (const auto& c : {clip_by_norm(g, HUGE_VAL), clip_by_value(g, HUGE_VAL)}) {
    EXPECT_EQ(c.first.to_vector(), g.first.to_vector());
    EXPECT_EQ(c.second.to_vector<c128>(), g.second.to_vector<c128>());
  }
}

// The functions of Moré & Thuente's section 5, with the settings of their tables.
TEST(WolfeSearch, MeetsBothConditionsOnMoreAndThuentesFunctions) {
  struct Case {
    std::function<Tensor(Tensor)> phi;
    double decrease, curvature;
  };
  const auto split = [](Tensor a, double b1, double b2) {
    const auto gamma = [](double b) { return std::sqrt(1 + b * b) - b; };
    return gamma(b1) * sqrt(square(1.0 - a) + b2 * b2) + gamma(b2) * sqrt(square(a) + b1 * b1);
  };
  const std::vector<Case> cases{
      {[](Tensor a) { return -a / (square(a) + 2.0); }, 1e-3, 0.1},
      {[](Tensor a) { return pow(a + 0.004, 5) - 2.0 * pow(a + 0.004, 4); }, 0.1, 0.1},
      {[&](Tensor a) { return split(a, 0.001, 0.001); }, 1e-3, 1e-3},
      {[&](Tensor a) { return split(a, 0.01, 0.001); }, 1e-3, 1e-3},
      {[&](Tensor a) { return split(a, 0.001, 0.01); }, 1e-3, 1e-3},
  };
  for (std::size_t k = 0; k < cases.size(); ++k)
    for (const double first : {1e-3, 1e-1, 1e1, 1e3}) {
      const auto at = [&](double a) {
        const auto [v, s] = value_and_grad(cases[k].phi)(Tensor(a));
        return std::pair(v.item(), s.item());
      };
      const auto [f0, s0] = at(0);
      const LineSearchResult r = wolfe_search(
          at, f0, s0, first, {.decrease = cases[k].decrease, .curvature = cases[k].curvature});
      EXPECT_TRUE(r.found) << "function " << k << ", first step " << first;
      EXPECT_LE(r.value, f0 + cases[k].decrease * r.step * s0);
      EXPECT_LE(std::abs(r.slope), cases[k].curvature * std::abs(s0));
      EXPECT_LE(r.evaluations, 16);
    }
  EXPECT_THROW(wolfe_search([](double) { return std::pair(0.0, 1.0); }, 0, 1, 1), Error);
}

TEST(WolfeSearch, ComesBackFromValuesThatAreNotFinite) {
  const auto phi = [](double a) {
    return std::pair(-std::log(1 - a) - 2 * a, 1 / (1 - a) - 2);
  };  // least at 1/2
  const LineSearchResult r = wolfe_search(phi, 0, -1, 5);
  EXPECT_TRUE(r.found);
  EXPECT_LT(r.step, 1);
}

TEST(Minimize, TakesTreesOfAnyInexactTypeAndKeepsThem) {
  struct P {
    Tensor z, x;
    TESSERA_TREE(z, x)
  };
  const Tensor c = tensor<c128>({{1, -2}, {0.5, 3}});
  const auto f = [&](const P& p) {
    return sum(square(abs(p.z * p.z - c))) + cast(sum(square(p.x - 3.0)), Dtype::f64);
  };
  for (const Method m : {Method::lbfgs, Method::nonlinear_cg, Method::newton_cg}) {
    const auto r = minimize(f, P{tensor<c128>({{1, -0.5}, {1, 1}}), ones({2}, Dtype::f32)},
                            {.method = m, .gradient_tolerance = 1e-6});
    EXPECT_TRUE(converged(r.reason)) << to_string(r.reason);
    EXPECT_EQ(r.x.x.dtype(), Dtype::f32);
    EXPECT_EQ(r.x.z.dtype(), Dtype::c128);
    EXPECT_LT(r.value, 1e-11);
    EXPECT_EQ(static_cast<int>(r.history.size()), r.iterations);
    EXPECT_EQ(r.history.back().value, r.value);
  }
  const auto residual = [&](const P& p) { return std::pair(p.z * p.z - c, p.x - 3.0); };
  for (const bool free : {false, true}) {
    const auto r =
        least_squares(residual, P{tensor<c128>({{1, -0.5}, {1, 1}}), ones({2}, Dtype::f32)},
                      {.matrix_free = free});
    EXPECT_LT(r.value, 1e-13);
    EXPECT_EQ(r.x.x.dtype(), Dtype::f32);
  }
}

TEST(Minimize, RunsFunctionsThatReadValuesWithoutJit) {
  const auto f = [](Tensor x) { return x.item() > 1 ? square(x - 3.0) : 10.0 - 6.0 * x; };
  EXPECT_THROW(minimize(f, Tensor(0.0)), Error);
  const auto r = minimize(f, Tensor(0.0), {.jit = false});
  EXPECT_NEAR(r.x.item(), 3, 1e-8);
}

TEST(Minimize, SaysWhyItStopped) {
  const auto bowl = [](Tensor x) { return sum(square(x)) + 1.0; };
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_EQ(minimize(bowl, x).reason, StopReason::gradient_small);
  const auto slow = [](Tensor x) { return sum(pow(x, 8)) + 1.0; };
  EXPECT_EQ(minimize(slow, x, {.gradient_tolerance = 0, .value_tolerance = 1e-6}).reason,
            StopReason::value_settled);
  EXPECT_EQ(minimize(slow, x, {.gradient_tolerance = 0, .step_tolerance = 0.1}).reason,
            StopReason::step_small);
  EXPECT_EQ(minimize(slow, x, {.gradient_tolerance = 1e-30, .max_iterations = 3}).reason,
            StopReason::too_many_iterations);
  EXPECT_EQ(minimize(slow, x, {.gradient_tolerance = 1e-30, .max_evaluations = 3}).reason,
            StopReason::too_many_evaluations);
  EXPECT_EQ(minimize([](Tensor x) { return sum(log(x)); }, tensor({-1.0})).reason,
            StopReason::not_finite);
  for (const Method m : {Method::lbfgs, Method::nonlinear_cg, Method::newton_cg}) {
    const auto r = minimize([](Tensor x) { return sum(cosh(x - 1.0)) + 1e3; }, x,
                            {.method = m, .gradient_tolerance = 0});
    EXPECT_TRUE(converged(r.reason))
        << static_cast<int>(m) << ": "
        << to_string(r.reason);  // nothing was asked, so as far as rounding lets it
    EXPECT_LT(r.gradient_norm, 1e-5);
    // A gradient of the wrong sign: no step along it helps.
    const FlatFunction wrong = custom_jvp(
        [](const std::vector<Tensor>& x) { return std::vector<Tensor>{sum(square(x[0]))}; },
        [](const std::vector<Tensor>& x, const std::vector<Tensor>&, const std::vector<Tensor>& t) {
          return std::vector<Tensor>{-2.0 * dot(x[0], t[0])};
        });
    EXPECT_EQ(minimize([&](Tensor x) { return wrong({x})[0]; }, x, {.method = m}).reason,
              StopReason::no_descent)
        << static_cast<int>(m);
  }
  EXPECT_NE(std::string(to_string(StopReason::no_descent)).find("not converged"),
            std::string::npos);
}

// Gradients whose squares vanish: no step can be found, which is an end and no convergence.
TEST(Minimize, EndsWhereTheSquareOfTheGradientVanishes) {
  const auto quartic = [](Tensor x) { return sum(square(square(x))); };
  const auto faint = [](Tensor x) { return 1e-200 * sum(square(x)); };
  for (const Method m : {Method::lbfgs, Method::nonlinear_cg, Method::newton_cg}) {
    const MinimizeOptions o{.method = m, .gradient_tolerance = 0, .max_iterations = 50};
    EXPECT_FALSE(converged(minimize(quartic, tensor({1e-60}), o).reason));
    EXPECT_FALSE(converged(minimize(faint, tensor({1.0}), o).reason));
  }
}

// Where the Hessian has no value, as that of a norm at 0, Newton's method follows the slope as far
// as it trusts it: f = |(x0, x1)| + (x2 - 1)^2 falls to x2 = 1, and is no minimum where it began.
TEST(Minimize, FollowsTheSlopeWhereTheHessianIsNotFinite) {
  const auto f = [](Tensor x) { return norm(slice(x, 0, 0, 2)) + square(select(x, 0, 2) - 1.0); };
  const auto r = minimize(f, tensor({0.0, 0.0, 5.0}), {.method = Method::newton_cg});
  EXPECT_EQ(r.reason, StopReason::gradient_small) << to_string(r.reason);
  EXPECT_NEAR(r.x.to_vector()[2], 1, 1e-8);
}

TEST(Minimize, RefusesWhatItWouldGetWrong) {
  const auto inner = [](Tensor a) {
    return minimize([&](Tensor x) { return square(x - a); }, Tensor(0.0)).x;
  };
  EXPECT_THROW(grad(inner)(Tensor(1.0)), Error);  // the derivative would silently be 0
  const auto from = [](Tensor a) { return minimize([](Tensor x) { return square(x); }, a).x; };
  EXPECT_THROW(grad(from)(Tensor(1.0)), Error);
  EXPECT_THROW(minimize([](Tensor x) { return x; }, ones({2})), Error);
  EXPECT_THROW(minimize([](Tensor x) { return sum(cast(x, Dtype::f64)); }, arange(3)), Error);
  // Integers and bools have the slope 0 everywhere, which is no minimum.
  EXPECT_THROW(least_squares([](Tensor x) { return greater(x, 0.5); }, ones({2})), Error);
  // No step at all is no minimum.
  EXPECT_THROW(minimize([](Tensor x) { return square(x); }, Tensor(1.0),
                        {.method = Method::newton_cg, .first_radius = 0}),
               Error);
}

// A rule whose derivative is wrong is no minimum where it stops.
TEST(LeastSquares, AWrongDerivativeIsNotConverged) {
  for (const double factor : {1.0, -1.0}) {
    const FlatFunction rule =
        custom_jvp([](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[0] - 3.0}; },
                   [factor](const auto&, const auto&, const std::vector<Tensor>& t) {
                     return std::vector<Tensor>{factor * t[0]};
                   });
    for (const bool free : {false, true}) {
      const auto r = least_squares([&](Tensor x) { return rule({x})[0]; }, tensor({1.0, 2.0}),
                                   {.matrix_free = free});
      EXPECT_EQ(converged(r.reason), factor > 0) << to_string(r.reason);
    }
  }
}

// Residuals in other units, s r in place of r, have the same minimum, with and without the matrix.
TEST(LeastSquares, DoesNotMindTheUnitOfTheResiduals) {
  using Kind = LeastSquaresOptions::Kind;
  for (const double s : {1e-100, 1e-12, 1e-9, 1.0, 1e9, 1e100})
    for (const Kind kind : {Kind::levenberg_marquardt, Kind::gauss_newton})
      for (const bool free : {false, true}) {
        SCOPED_TRACE("scale " + std::to_string(s) + (free ? ", matrix-free" : ", dense"));
        const auto r = least_squares(
            [&](Tensor x) {
              return s * (x * tensor({1.0, 2.0}) - 3.0);
            },
            tensor({1.0, 2.0}), {.kind = kind, .matrix_free = free, .gradient_tolerance = 0});
        EXPECT_TRUE(converged(r.reason)) << to_string(r.reason);
        EXPECT_NEAR(r.x.to_vector()[0], 3, 1e-9);
        EXPECT_NEAR(r.x.to_vector()[1], 1.5, 1e-9);
        EXPECT_LT(r.iterations, 30);
      }
}

TEST(LeastSquares, FindsTheMinimumOfALinearProblemInOneStep) {
  const Tensor a = cos(reshape(square(linspace(0, 12, 60)), {12, 5})), b = linspace(-1, 1, 12),
               want = reshape(lstsq(a, reshape(b, {12, 1})), {5});
  const auto r = least_squares([&](Tensor x) { return matmul(a, x) - b; }, zeros({5}),
                               {.kind = LeastSquaresOptions::Kind::gauss_newton});
  EXPECT_LE(r.iterations, 3);
  EXPECT_LT(max(abs(r.x - want)).item(), 1e-12);
  const auto under = least_squares(
      [&](Tensor x) {
        return matmul(transpose(a), x) - tensor({1.0, 2.0, 0.5, -1.0, 0.0});
      },
      zeros({12}));
  EXPECT_LT(under.value, 1e-20);
}

TEST(Optimize, DefaultsAreEachOptimizersOwn) {
  using List = std::vector<Tensor>;
  const List x{ones({1})}, none{zeros({1})};
  const auto step = [&](const Optimizer& o, const List& g) {
    return o.update(x, g, o.init(x)).first[0].to_vector()[0];
  };
  const Schedule rate = constant_rate(0.1);
  EXPECT_DOUBLE_EQ(step(adamw(rate), none), 0.999);
  EXPECT_DOUBLE_EQ(step(adamw(rate, {.beta2 = 0.95}), none), 0.999);
  EXPECT_EQ(step(adam(rate, {.beta2 = 0.95}), none), 1);
  // A gradient of the size of epsilon, beside another, shows which it is: g / (|g| + epsilon).
  const List y{tensor({1.0, 1.0})}, g{tensor({1e-6, 1.0})};
  const auto two = [&](const Optimizer& o) {
    return o.update(y, g, o.init(y)).first[0].to_vector();
  };
  EXPECT_EQ(two(lamb(rate, {.beta2 = 0.999})), two(lamb(rate)));
}

}  // namespace
}  // namespace tessera
