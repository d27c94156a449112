// SPDX-License-Identifier: Apache-2.0
//
// The public checks: right rules pass, each kind of wrong rule fails in the check that is made for
// it, and the report names the place.
#include "tessera/autodiff/check.h"

#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using Flat = std::vector<Tensor>;

/// x^3 with the derivative `factor` x^2: right for 3.
FlatFunction cube(double factor) {
  return custom_jvp([](const Flat& x) { return Flat{x[0] * x[0] * x[0]}; },
                    [factor](const Flat& x, const Flat&, const Flat& t) {
                      return Flat{factor * x[0] * x[0] * t[0]};
                    });
}
Tensor cube_of(double factor, const Tensor& x) { return cube(factor)({x})[0]; }

#define EXPECT_PASSES(report)       \
  {                                 \
    const auto r = report;          \
    EXPECT_TRUE(r) << to_string(r); \
    EXPECT_GT(r.comparisons, 0);    \
  }
#define EXPECT_SAYS(report, text)                                          \
  {                                                                        \
    const auto r = report;                                                 \
    EXPECT_FALSE(r) << to_string(r);                                       \
    EXPECT_GT(r.comparisons, 0);                                           \
    EXPECT_NE(to_string(r).find(text), std::string::npos) << to_string(r); \
  }

const Tensor kX = tensor({0.7, -1.2, 1.9});
const Tensor kZ = tensor<c128>({{0.7, 0.4}, {-1.2, 0.9}});

TEST(Gradcheck, PassesRealFunctionsToThirdOrder) {
  EXPECT_PASSES(gradcheck([](Tensor x) { return sin(x) * exp(x); }, kX, {.order = 3}));
  EXPECT_PASSES(gradcheck([](Tensor x) { return cube_of(3, x); }, kX, {.order = 2}));
  EXPECT_PASSES(
      gradcheck([](Tensor x) { return sum(log(x)); }, tensor({1e-3, 2.0, 5e4}), {.step = 2e-4}));
}

TEST(Gradcheck, PassesComplexFunctions) {
  EXPECT_PASSES(gradcheck([](Tensor z) { return exp(z) * conj(z); }, kZ, {.order = 2}));
  EXPECT_PASSES(gradcheck([](Tensor z) { return sum(square(abs(z))); }, kZ, {.order = 2}));
  EXPECT_PASSES(gradcheck([](Tensor x) { return complex(sin(x), x * x); }, kX, {.order = 2}));
}

TEST(Gradcheck, PassesTreesAndManyElements) {
  const Tensor a = reshape(linspace(-1, 1, 60), {6, 10}), b = linspace(0.2, 0.9, 10);
  EXPECT_PASSES(gradcheck([](Tensor a, Tensor b) { return std::pair(tanh(matmul(a, b)), sum(a)); },
                          std::tuple(a, b), {.order = 2}));
}

TEST(Gradcheck, HoldsIntegersFixedAndIgnoresIntegerResults) {
  const Tensor rows = tensor<std::int64_t>({2, 0});
  EXPECT_PASSES(gradcheck([](Tensor x, Tensor i) { return std::pair(gather(x, i) * 2.0, i); },
                          std::tuple(kX, rows)));
  EXPECT_THROW(gradcheck([](Tensor i) { return i; }, rows), Error);
}

TEST(Gradcheck, PassesSinglePrecision) {
  EXPECT_PASSES(gradcheck([](Tensor x) { return sin(x) * x; }, cast(kX, Dtype::f32)));
}

TEST(Gradcheck, FindsAWrongFactorAndSaysWhere) {
  // 3.001 x^2 in place of 3 x^2; wrong by most, relative to its column, everywhere alike: some
  // place is named.
  EXPECT_SAYS(gradcheck([](Tensor x) { return cube_of(3.001, x); }, kX),
              "jvp against differences, result 0 at [");
  // Wrong in one element alone.
  const auto one_wrong = [](Tensor x) {
    const auto f = custom_jvp([](const Flat& x) { return Flat{square(x[0])}; },
                              [](const Flat& x, const Flat&, const Flat& t) {
                                return Flat{2.0 * x[0] * t[0] * tensor({1.0, 1.0, 1.01})};
                              });
    return f({x})[0];
  };
  EXPECT_SAYS(gradcheck(one_wrong, kX),
              "result 0 at [2], along argument 0 at [2]: expected 3.8, got 3.838");
}

TEST(Gradcheck, FindsAWrongPullback) {
  const auto f = custom_vjp(
      [](const Flat& x) {
        return Flat{exp(x[0]), x[0]};
      },
      1,
      [](const Flat& r, const Flat& c) {
        return Flat{c[0] * r[0]};
      });  // the residual should be exp x
  EXPECT_SAYS(gradcheck([&](Tensor x) { return f({x})[0]; }, kX), "against differences");
}

TEST(Gradcheck, FindsASecondDerivativeThatIsWrongAlone) {
  // The first derivative is right, but hides its dependence on x.
  const auto f = custom_jvp([](const Flat& x) { return Flat{sin(x[0])}; },
                            [](const Flat& x, const Flat&, const Flat& t) {
                              return Flat{stop_gradient(cos(x[0])) * t[0]};
                            });
  const auto g = [&](Tensor x) { return f({x})[0]; };
  EXPECT_PASSES(gradcheck(g, kX));
  EXPECT_SAYS(gradcheck(g, kX, {.order = 2}), "derivative of");
}

TEST(Gradcheck, FindsAComplexRuleThatForgetsTheConjugate) {
  const auto f = custom_jvp([](const Flat& z) { return Flat{conj(z[0])}; },
                            [](const Flat&, const Flat&, const Flat& t) { return Flat{t[0]}; });
  EXPECT_SAYS(gradcheck([&](Tensor z) { return f({z})[0]; }, kZ), "along i times argument 0");
}

TEST(Gradcheck, TellsOfKinks) {
  EXPECT_PASSES(gradcheck([](Tensor x) { return abs(x); },
                          tensor({1e-2, 1.0})));  // the shorter steps do not reach it
  EXPECT_SAYS(gradcheck([](Tensor x) { return abs(x); }, tensor({1e-7, 1.0})), "kink");
}

TEST(Gradcheck, AnInfiniteDerivativeFitsNoFiniteOne) {
  // The tolerance is relative to the largest modulus; one that is infinite is none.
  const auto f =
      custom_jvp([](const Flat& x) { return Flat{square(x[0])}; },
                 [](const Flat&, const Flat&, const Flat& t) { return Flat{INFINITY * t[0]}; });
  EXPECT_SAYS(gradcheck([&](Tensor x) { return f({x})[0]; }, tensor({0.7})),
              "jvp against differences, result 0 at [0], along argument 0 at [0]: expected 1.4");
}

TEST(TransposeCheck, PassesAndIsExact) {
  EXPECT_PASSES(transpose_check([](Tensor x) { return cumsum(sin(x)) * x; }, kX, {.order = 3}));
  EXPECT_PASSES(transpose_check(
      [](Tensor z) { return exp(z) * conj(z) + complex(abs(z), real(z)); }, kZ, {.order = 2}));
  EXPECT_PASSES(transpose_check([](Tensor x) { return sin(x); }, cast(kX, Dtype::f32)));
}

TEST(TransposeCheck, FindsAWrongAdjointAndTheElement) {
  // A matrix whose adjoint was written with one element wrong.
  const Tensor a = reshape(linspace(-1, 1, 9), {3, 3}),
               wrong = transpose(a) + diag(tensor({0.0, 1e-9, 0.0}));
  const auto f = custom_linear([a](const Flat& x) { return Flat{matmul(a, x[0])}; },
                               [wrong](const Flat& y) { return Flat{matmul(wrong, y[0])}; });
  EXPECT_SAYS(transpose_check([&](Tensor x) { return f({x})[0]; }, kX),
              "most at argument 0 at [1]");
  const auto right = custom_linear([a](const Flat& x) { return Flat{matmul(a, x[0])}; },
                                   [a](const Flat& y) { return Flat{matmul(transpose(a), y[0])}; });
  EXPECT_PASSES(transpose_check([&](Tensor x) { return right({x})[0]; }, kX));
}

TEST(TransposeCheck, FindsATransposeThatIsNotTheAdjointOfAComplexMap) {
  const Tensor a = tensor<c128>({{1, 2}, {0, 1}, {3, -1}, {0.5, 0.5}}, {2, 2});
  const auto f = custom_linear([a](const Flat& x) { return Flat{matmul(a, x[0])}; },
                               [a](const Flat& y) { return Flat{matmul(transpose(a), y[0])}; });
  EXPECT_SAYS(transpose_check([&](Tensor z) { return f({z})[0]; }, kZ), "Re<J^H c, t>");
}

TEST(VmapCheck, PassesValuesAndDerivatives) {
  EXPECT_PASSES(vmap_check([](Tensor a, Tensor b) { return matmul(sin(a), b); },
                           std::tuple(reshape(linspace(0.1, 1, 6), {2, 3}), kX)));
  EXPECT_PASSES(vmap_check([](Tensor z) { return cumsum(exp(z)); }, kZ));
  EXPECT_PASSES(vmap_check([](Tensor x, Tensor i) { return gather(x, i); },
                           std::tuple(kX, tensor<std::int64_t>({2, 0}))));
}

TEST(VmapCheck, ComparesIntegersExactly) {
  const Tensor big = tensor<std::int64_t>({(std::int64_t(1) << 60) + 1, -7});
  EXPECT_PASSES(vmap_check([](Tensor i) { return i + i; }, big));
  std::int64_t calls = 0;
  EXPECT_SAYS(vmap_check([&](Tensor i) { return i + (calls++ > 0 ? 1 : 0); }, big),
              "vmap against a loop");
}

TEST(VmapCheck, FindsAFunctionThatIsNotItsBatch) {
  // Shapes of one example are baked in by a side effect: the second call, in the loop, gives
  // something else.
  int calls = 0;
  const auto f = [&](Tensor x) { return x * static_cast<double>(++calls); };
  EXPECT_SAYS(vmap_check(f, kX, {.order = 0}), "vmap against a loop, result 0 at [");
}

TEST(VmapCheck, EqualInfinitiesFitAndHideNothingBesideThem) {
  const Tensor x = tensor({0.0, 2.0});
  EXPECT_PASSES(vmap_check([](Tensor x) { return log(x); }, x, {.order = 0}));
  int calls = 0;
  const auto f = [&](Tensor x) { return log(x) * static_cast<double>(++calls); };
  EXPECT_SAYS(vmap_check(f, x, {.order = 0}), "vmap against a loop, result 0 at [1]");
}

TEST(TaylorCheck, MeasuresSlopesTwoAndThree) {
  const auto f = [](Tensor x) { return sum(exp(sin(x))); };
  const TaylorReport r = taylor_check(f, kX, tensor({1.0, 0.5, -0.7}));
  EXPECT_TRUE(r) << to_string(r);
  EXPECT_NEAR(r.first.slope, 2, 0.05);
  EXPECT_NEAR(r.second.slope, 3, 0.05);
  EXPECT_GE(r.first.largest_step, 100 * r.first.smallest_step);
  EXPECT_PASSES(taylor_check([](Tensor z) { return exp(z) * conj(z); }, kZ));
}

TEST(TaylorCheck, CountsAnExactSeriesAsRight) {
  EXPECT_PASSES(taylor_check([](Tensor x) { return 3.0 * x; }, kX));
  EXPECT_PASSES(taylor_check([](Tensor x) { return sum(x * x); }, kX));
}

TEST(TaylorCheck, SeesSlopeOneOfAWrongGradientAndTwoOfAWrongHessian) {
  const TaylorReport wrong = taylor_check([](Tensor x) { return cube_of(2.5, x); }, kX);
  EXPECT_FALSE(wrong);
  EXPECT_NEAR(wrong.first.slope, 1, 0.1);
  EXPECT_NE(to_string(wrong).find("after the first derivative"), std::string::npos)
      << to_string(wrong);
  const auto f = custom_jvp([](const Flat& x) { return Flat{sin(x[0])}; },
                            [](const Flat& x, const Flat&, const Flat& t) {
                              return Flat{stop_gradient(cos(x[0])) * t[0]};
                            });
  const TaylorReport half = taylor_check([&](Tensor x) { return f({x})[0]; }, kX);
  EXPECT_FALSE(half);
  EXPECT_NEAR(half.second.slope, 2, 0.1);
  EXPECT_NE(to_string(half).find("after the second derivative"), std::string::npos)
      << to_string(half);
}

TEST(TaylorCheck, StepsThatOverflowDoNotExcuseAWrongDerivative) {
  const auto f = custom_jvp(
      [](const Flat& x) { return Flat{exp(x[0])}; },
      [](const Flat& x, const Flat&, const Flat& t) { return Flat{0.5 * exp(x[0]) * t[0]}; });
  // e^709.78 is the largest double; the first steps of 0.1 and 0.06 pass it.
  EXPECT_SAYS(taylor_check([&](Tensor x) { return f({x})[0]; }, tensor({709.75}), tensor({1.0})),
              "after the first derivative");
}

TEST(Jetcheck, ComparesTaylorCoefficients) {
  // exp(x + s v) = e^x sum (v s)^k / k!.
  const Tensor x = tensor({0.3, -0.5}), v = tensor({1.0, 2.0});
  std::vector<Tensor> c{exp(x)};
  for (int k = 1; k <= 5; ++k) c.push_back(c.back() * v / static_cast<double>(k));
  const auto f = [](Tensor x) { return exp(x); };
  EXPECT_PASSES(jetcheck(f, x, v, c));
  c[3] = c[3] * 6.0;  // the derivative in place of the coefficient
  EXPECT_SAYS(jetcheck(f, x, v, c), "coefficient 3 against nested jvp");
}

TEST(Jetcheck, RunsTheEnginesOwnTaylorMode) {
  const auto f = [](Tensor a, Tensor b) {
    return std::pair(sin(a) * exp(b), sum(sqrt(2.0 + a * b)));
  };
  const Tensor a = tensor({0.3, -0.5}), b = tensor({0.1, 0.4});
  EXPECT_PASSES(jetcheck(f, std::tuple(a, b), std::tuple(b, 2.0 * a), 5));
  EXPECT_PASSES(jetcheck([](Tensor z) { return exp(z) * conj(z); }, kZ, 0.5 * kZ, 4));
  EXPECT_PASSES(jetcheck([](Tensor x, Tensor i) { return gather(square(x), i); },
                         std::tuple(kX, tensor<std::int64_t>({2, 0})),
                         std::tuple(kX, tensor<std::int64_t>({0, 0})), 3));
  // A rule whose second derivative is wrong: custom rules reach Taylor mode, and nested jvp alike;
  // the differences tell.
  EXPECT_PASSES(jetcheck([](Tensor x) { return cube_of(2.0, x); }, kX, kX, 3));
}

TEST(CheckReport, SaysItInOneLine) {
  const std::string good = to_string(gradcheck([](Tensor x) { return sin(x); }, kX));
  EXPECT_EQ(good.find("gradcheck passed ("), 0u) << good;
  EXPECT_NE(good.find("nearest to its tolerance"), std::string::npos) << good;
}

}  // namespace
}  // namespace tessera
