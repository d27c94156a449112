// SPDX-License-Identifier: Apache-2.0
//
// Every minimiser on the 35 functions of Moré, Garbow & Hillstrom from their standard starts. A
// function counts as solved where the value is a published one to its six digits, or below 1e-10
// where that is 0.
#include "mgh.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <set>

namespace tessera {
namespace {

bool published(const mgh::Problem& p, double value) {
  for (const double m : p.minima)
    if (m == 0 ? value <= 1e-10 : std::abs(value - m) <= 1e-5 * m) return true;
  return false;
}

struct Outcome {
  double value;  ///< F = sum r^2
  int iterations, evaluations, products;
  StopReason reason;
};
using Solver = std::function<Outcome(const mgh::Problem&)>;

Solver with(Method method) {
  return [method](const mgh::Problem& p) {
    const auto r = minimize([&](Tensor x) { return sum(square(p.residual(x))); }, tensor(p.start),
                            {.method = method,
                             .gradient_tolerance = 1e-9,
                             .max_iterations = 20000,
                             .max_evaluations = 100000});
    return Outcome{r.value, r.iterations, r.evaluations, r.products, r.reason};
  };
}
Solver with(LeastSquaresOptions o) {
  return [o](const mgh::Problem& p) {
    const auto r = least_squares(p.residual, tensor(p.start), o);
    return Outcome{2 * r.value, r.iterations, r.evaluations, r.products, r.reason};
  };
}

/// Solves all but the named problems.
void solves(const char* name, const Solver& solver, const std::set<std::string>& unsolved) {
  std::printf("  %s\n", name);
  for (const mgh::Problem& p : mgh::problems()) {
    const Outcome r = solver(p);
    const bool ok = published(p, r.value);
    std::printf("  %c %2d %-42s F %-12.6g %5d iterations %6d evaluations %6d products; %s\n",
                ok ? ' ' : '*', p.number, p.name.c_str(), r.value, r.iterations, r.evaluations,
                r.products, to_string(r.reason));
    EXPECT_EQ(ok, !unsolved.contains(p.name))
        << name << " on " << p.name << ": " << r.value << ", " << to_string(r.reason);
    // A value that is 0 to rounding leaves a line search nothing to compare.
    if (ok && r.value > 1e-10) {
      EXPECT_TRUE(converged(r.reason)) << name << " on " << p.name << ": " << to_string(r.reason);
    }
  }
}

TEST(Mgh, GradientsAreRight) {
  for (const mgh::Problem& p : mgh::problems()) {
    // Not at the start itself: some have components 0, where a helical valley is not smooth.
    const Tensor x = tensor(p.start) * 1.1 + 0.01;
    // Lengths of the problems run from 1e-3 to 1e3; five are exponentials of large multiples of x.
    const CheckReport r = gradcheck(p.residual, x, {.directions = 2, .rtol = 1e-6, .step = 1e-3});
    EXPECT_TRUE(r) << p.name << ": " << to_string(r);
  }
}

TEST(Mgh, LimitedMemoryBfgs) { solves("lbfgs", with(Method::lbfgs), {}); }
TEST(Mgh, NonlinearConjugateGradients) {
  solves("nonlinear_cg", with(Method::nonlinear_cg), {"Meyer", "Osborne 1"});
}
TEST(Mgh, NewtonConjugateGradients) { solves("newton_cg", with(Method::newton_cg), {"Meyer"}); }
TEST(Mgh, LevenbergMarquardt) { solves("levenberg_marquardt", with(LeastSquaresOptions{}), {}); }
TEST(Mgh, LevenbergMarquardtMatrixFree) {
  solves("levenberg_marquardt, matrix-free", with(LeastSquaresOptions{.matrix_free = true}), {});
}
// Undamped steps leave narrow curved valleys far behind, and where residuals stay large there may
// be no way back.
TEST(Mgh, GaussNewton) {
  solves("gauss_newton",
         with(LeastSquaresOptions{.kind = LeastSquaresOptions::Kind::gauss_newton,
                                  .max_iterations = 1000}),
         {"Freudenstein and Roth", "Jennrich and Sampson", "Gulf research and development",
          "Biggs EXP6", "Penalty II, n = 10", "Chebyquad, n = 8"});
}

// f = s (x - 0.3 log x + c x^2), whose rounding keeps the gradient above its tolerance. Steps that
// were refused at x <= 0 long before the end do not say that values and gradients disagree.
// The minimum is at (sqrt(1 + 2.4 c) - 1) / (4 c).
TEST(NewtonCg, EndsAtRoundingWhereTheFirstStepsLeftTheDomain) {
  const double cases[][2] = {{1e10, 0.1}, {1e10, 0.137}, {1e9, 0.21}, {1e12, 0.05}};
  for (const auto& one : cases) {
    const double s = one[0], c = one[1];
    const auto f = [s, c](Tensor x) { return s * (x - 0.3 * log(x) + c * x * x); };
    const auto r = minimize(f, Tensor(3.0), {.method = Method::newton_cg});
    EXPECT_TRUE(converged(r.reason)) << s << ", " << c << ": " << to_string(r.reason);
    EXPECT_NEAR(r.x.item(), (std::sqrt(1 + 2.4 * c) - 1) / (4 * c), 1e-14);
  }
}

// A gradient ten times too long: steps are a tenth of what it promises, until none is taken.
TEST(NewtonCg, DoubtsGradientsThatAreTooLong) {
  const FlatFunction wrong = custom_jvp(
      [](const std::vector<Tensor>& x) { return std::vector<Tensor>{sum(square(x[0]))}; },
      [](const std::vector<Tensor>& x, const std::vector<Tensor>&, const std::vector<Tensor>& t) {
        return std::vector<Tensor>{20.0 * dot(x[0], t[0])};
      });
  const auto r = minimize([&](Tensor x) { return wrong({x})[0]; }, tensor({3.0, 1.0}),
                          {.method = Method::newton_cg});
  EXPECT_EQ(r.reason, StopReason::no_descent) << to_string(r.reason);
}

// Single precision rounds x and the value, so that the gradient stays above its tolerance at the
// minimum; that is no gradient to doubt.
TEST(SinglePrecision, EndsAtRoundingWhereItHasConverged) {
  const auto at = [](const Tensor& x, Index k) { return select(x, 0, k); };
  const std::function<Tensor(Tensor)> functions[] = {
      [&](Tensor x) {
        return square(square(at(x, 0)) + at(x, 1) - 11.0) +
               square(at(x, 0) + square(at(x, 1)) - 7.0);
      },
      [&](Tensor x) {
        return 1.0 + square(1.0 - at(x, 0)) + 100.0 * square(at(x, 1) - square(at(x, 0)));
      },
      [](Tensor x) { return sum(cosh(x - 0.3)); },
      [](Tensor x) { return sum(square(x) + exp(x)); }};
  for (const Method m : {Method::lbfgs, Method::nonlinear_cg, Method::newton_cg})
    for (const auto& f : functions)
      for (const Tensor& x :
           {tensor<float>({-1.2F, 1}), tensor<float>({2, 2}), tensor<float>({0.5F, -0.7F})}) {
        const auto r = minimize(f, x, {.method = m});
        EXPECT_TRUE(converged(r.reason))
            << static_cast<int>(m) << " from " << to_string(x) << ": " << to_string(r.reason);
        EXPECT_LT(r.gradient_norm, 1e-2);
      }
}

TEST(SinglePrecision, FitsToDataThatDoNotFitEndAtRounding) {
  const Tensor t = cast(linspace(0, 3, 20), Dtype::f32);
  const Tensor data = 2.0 * exp(-0.7 * t) + 0.1 * sin(37.0 * cast(arange(20), Dtype::f32));
  const auto residual = [&](Tensor p) {
    return select(p, 0, 0) * exp(neg(select(p, 0, 1)) * t) - data;
  };
  using Kind = LeastSquaresOptions::Kind;
  for (const bool matrix_free : {false, true})
    for (const Kind kind : {Kind::levenberg_marquardt, Kind::gauss_newton})
      for (const float amplitude : {1.F, 2.5F, 3.F})
        for (const float rate : {0.5F, 1.F}) {
          const auto r = least_squares(residual, tensor<float>({amplitude, rate}),
                                       {.kind = kind, .matrix_free = matrix_free});
          EXPECT_TRUE(converged(r.reason))
              << amplitude << ", " << rate << ": " << to_string(r.reason);
          EXPECT_NEAR(r.x.to_vector<float>()[0], 1.946, 1e-3);
        }
}

TEST(SinglePrecision, DoubtsGradientsOfTheWrongSign) {
  const FlatFunction wrong = custom_jvp(
      [](const std::vector<Tensor>& x) { return std::vector<Tensor>{sum(square(x[0]))}; },
      [](const std::vector<Tensor>& x, const std::vector<Tensor>&, const std::vector<Tensor>& t) {
        return std::vector<Tensor>{-2.0 * dot(x[0], t[0])};
      });
  const Tensor x = tensor<float>({3, 1});
  for (const Method m : {Method::lbfgs, Method::nonlinear_cg, Method::newton_cg})
    EXPECT_EQ(minimize([&](Tensor y) { return wrong({y})[0]; }, x, {.method = m}).reason,
              StopReason::no_descent)
        << static_cast<int>(m);
  const FlatFunction turned =
      custom_jvp([](const std::vector<Tensor>& v) { return std::vector<Tensor>{v[0] - 1.0}; },
                 [](const std::vector<Tensor>&, const std::vector<Tensor>&,
                    const std::vector<Tensor>& t) { return std::vector<Tensor>{neg(t[0])}; });
  EXPECT_EQ(least_squares([&](Tensor y) { return turned({y})[0]; }, x).reason,
            StopReason::no_descent);
}

}  // namespace
}  // namespace tessera
