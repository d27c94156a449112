// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/interpolate.h"

#include "special_reference.h"
#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/tridiagonal.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::largest;

Tensor reference(const char* name) { return tensor(numbers(special_reference(name)[0], 1)); }
constexpr SplineEnd kEnds[] = {SplineEnd::not_a_knot, SplineEnd::natural, SplineEnd::clamped};

TEST(Interpolate, LinearAgainstNumPy) {
  const Tensor y = interp(reference("queries"), reference("knots"), reference("values"));
  EXPECT_LE(largest(y - tensor(numbers(special_reference("linear")[0], 2))), 1e-15);
}

TEST(Interpolate, LinearOutsideAndAtKnots) {
  const Tensor k = tensor({0.0, 1.0, 3.0}), v = tensor({2.0, 4.0, 0.0}),
               x = tensor({-1.0, 0.0, 1.0, 2.0, 3.0, 5.0});
  EXPECT_EQ(interp(x, k, v).to_vector(), (std::vector<double>{2, 2, 4, 2, 0, 0}));
  EXPECT_EQ(interp(x, k, v, Outside::extend).to_vector(), (std::vector<double>{0, 2, 4, 2, 0, -4}));
  const auto slope = [&](Outside o) {
    return jvp([&](Tensor t) { return interp(t, k, v, o); }, x, ones({6})).second.to_vector();
  };
  EXPECT_EQ(slope(Outside::hold), (std::vector<double>{0, 2, -2, -2, -2, 0}));
  EXPECT_EQ(slope(Outside::extend), (std::vector<double>{2, 2, -2, -2, -2, -2}));
  // Held values do not move with the knots, however far x is.
  const Tensor far = tensor({-HUGE_VAL, 0.5, HUGE_VAL});
  EXPECT_EQ(interp(far, k, v).to_vector(), (std::vector<double>{2, 3, 0}));
  EXPECT_EQ(grad([&](Tensor q) { return sum(interp(far, q, v)); })(k).to_vector(),
            (std::vector<double>{-1, -1, 0}));
  EXPECT_EQ(grad([&](Tensor q) { return sum(interp(q, k, v)); })(far).to_vector(),
            (std::vector<double>{0, 2, 0}));
  EXPECT_EQ(interp(0.5, k, v).item(), 3);
  EXPECT_TRUE(std::isnan(interp(NAN, k, v).item()));
  const Tensor curves = tensor({2.0, 1.0, 4.0, 1.0, 0.0, 1.0}, {3, 2});  // two curves at once
  EXPECT_EQ(interp(reshape(x, {2, 3}), k, curves).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(interp(tensor({0.5}), k, curves).to_vector(), (std::vector<double>{3, 1}));
  EXPECT_THROW(interp(x, k, tensor({1.0, 2.0})), Error);
  EXPECT_THROW(interp(x, tensor({1.0}), tensor({2.0})), Error);
  EXPECT_THROW(interp(x, cast(k, Dtype::f32), cast(v, Dtype::f32)), Error);
  EXPECT_THROW(interp(x, tensor({0.0, 1.0, 1.0}), v), Error);
  EXPECT_THROW(jit([&](Tensor a) { return cubic_spline(a, v).slopes; })(neg(k)), Error);
}

TEST(Interpolate, HeldValuesDoNotHangOnTheNextKnot) {
  const Tensor k = tensor({0.0, 1.0, 2.0, 3.0}), x = tensor({-1.0, 4.0}),
               v = tensor<double>({5.0, NAN, 2.0, HUGE_VAL});
  EXPECT_EQ(interp(x, k, v).to_vector(), (std::vector<double>{5, HUGE_VAL}));
  EXPECT_EQ(interp(x, k, reverse(v, {0})).to_vector(), (std::vector<double>{HUGE_VAL, 5}));
  EXPECT_EQ(grad([&](Tensor u) { return sum(interp(x, k, u)); })(v).to_vector(),
            (std::vector<double>{1, 0, 0, 1}));
}

TEST(Interpolate, AnExtendedLineOfEqualValuesIsThatValueHoweverFar) {
  const Tensor k = tensor({0.0, 1.0}), x = tensor({-1e17, -1e5, 1e5, 1e17});
  EXPECT_EQ(interp(x, k, ones({2}), Outside::extend).to_vector(), (std::vector<double>(4, 1.0)));
  const Tensor narrow = interp(cast(x, Dtype::f32), cast(k, Dtype::f32),
                               full({2}, 293.15, Dtype::f32), Outside::extend);
  EXPECT_EQ(narrow.to_vector<float>(), (std::vector<float>(4, 293.15f)));
  // x goes with v_1 - v_0 alone, and the ends share it as t does: d/dv = (1 - t, t).
  const auto line = [&](Tensor v) { return sum(interp(tensor({3.0}), k, v, Outside::extend)); };
  EXPECT_EQ(grad(line)(tensor({2.0, 5.0})).to_vector(), (std::vector<double>{-2, 3}));
}

TEST(Interpolate, DerivativesOfExtendedLines) {
  const Tensor k = tensor({-1.0, -0.3, 0.5, 1.1}), x = tensor({-1.4, -1.2, 0.2, 1.3, 1.4}),
               v = tensor({0.3, 1.0, -0.4, 0.6, 0.2, -0.9, 0.8, 0.1}, {4, 2});
  const auto f = [](Tensor a, Tensor b, Tensor c) { return interp(a, b, c, Outside::extend); };
  const std::tuple at(x, k, v);
  const CheckReport g = gradcheck(f, at, {.order = 2, .step = 0.02});
  EXPECT_TRUE(g) << to_string(g);
  const CheckReport t = transpose_check(f, at, {.order = 2});
  EXPECT_TRUE(t) << to_string(t);
  const CheckReport j = jetcheck(f, at, std::tuple(0.1 * x, 0.1 * k, 0.3 * square(v) - 0.2), 3);
  EXPECT_TRUE(j) << to_string(j);
}

TEST(Interpolate, SplinesAgainstSciPy) {
  const Tensor k = reference("knots"), v = reference("values"), x = reference("queries");
  int lines = 0;
  for (const ReferenceLine& r : special_reference("spline")) {
    const CubicSpline s = cubic_spline(k, v, kEnds[static_cast<int>(r.cells[0])], 0.3, -0.7);
    const Tensor want = tensor(numbers(r, 2));
    EXPECT_LE(largest(interp(s, x, static_cast<int>(r.cells[1])) - want) / largest(want), 1e-13)
        << "ends " << r.cells[0] << ", derivative " << r.cells[1];
    ++lines;
  }
  EXPECT_EQ(lines, 15);
}

TEST(Interpolate, CubicsAreReproduced) {
  const auto cubic = [](Tensor x) { return 1.0 + x * (2.0 + x * (-0.5 + 0.25 * x)); };
  const Tensor k = tensor({-1.0, 0.1, 0.4, 2.0, 2.5}), x = linspace(-1.5, 3.0, 19);
  EXPECT_LE(largest(interp(cubic_spline(k, cubic(k)), x) - cubic(x)), 1e-13);
  const auto slope = [&](double at) { return grad(cubic)(Tensor(at)); };
  EXPECT_LE(
      largest(interp(cubic_spline(k, cubic(k), SplineEnd::clamped, slope(-1.0), slope(2.5)), x) -
              cubic(x)),
      1e-13);
  const Tensor three = slice(k, 0, 0, 3), parabola = square(three);
  EXPECT_LE(largest(interp(cubic_spline(three, parabola), x) - square(x)), 1e-14);
  const Tensor two = slice(k, 0, 0, 2);
  for (SplineEnd e : {SplineEnd::not_a_knot, SplineEnd::natural})
    EXPECT_LE(largest(interp(cubic_spline(two, 3.0 * two - 1.0, e), x) - (3.0 * x - 1.0)),
              1e-13);  // extended three pieces far
}

TEST(Interpolate, SecondDerivativesAreContinuousAndTheIntegralIsOne) {
  const Tensor k = reference("knots"), v = reference("values"), inner = slice(k, 0, 1, 8);
  for (SplineEnd e : kEnds) {
    const CubicSpline s = cubic_spline(k, v, e);
    for (int d = 0; d <= 2; ++d)
      EXPECT_LE(largest(interp(s, inner - 1e-9, d) - interp(s, inner, d)), 1e-6);
    for (int d = -1; d <= 2; ++d) {  // each is the derivative of the one before
      const Tensor x = reference("queries"),
                   t = jvp([&](Tensor q) { return interp(s, q, d); }, x, ones({x.size()})).second;
      EXPECT_LE(largest(t - interp(s, x, d + 1)) / largest(t), 1e-13);
    }
  }
}

/// Of f = 1 it is x, whatever the width of the piece that x lies in.
TEST(Interpolate, TheIntegralKeepsWhatLiesBeforeAWidePiece) {
  const Tensor x = tensor({0.5, 1.0, 2.0, 2.5});
  for (const double far : {4.0, 1e6, 1e12, 1e17}) {
    const CubicSpline s = cubic_spline(tensor({0.0, 1.0, 2.0, far}), ones({4}));
    EXPECT_EQ(interp(s, x, -1).to_vector(), x.to_vector()) << far;
  }
  for (const float far : {4.0f, 1e6f, 1e9f}) {
    const CubicSpline s =
        cubic_spline(tensor<float>({0.0f, 1.0f, 2.0f, far}), full({4}, 0.1, Dtype::f32));
    // 0.2 + 0.05 in three roundings of 1.5e-8 and less.
    EXPECT_NEAR(interp(s, tensor<float>({2.5f}), -1).to_vector<float>()[0], 0.25, 5e-8) << far;
  }
  // One piece: of 1 + x up to 2 it is 2 + 2.
  const CubicSpline two = cubic_spline(tensor({0.0, 2.0}), tensor({1.0, 3.0}));
  EXPECT_NEAR(interp(two, 2.0, -1).item(), 4, 1e-14);
}

TEST(Interpolate, DerivativesInQueriesKnotsAndValues) {
  const Tensor k = tensor({-1.0, -0.3, 0.5, 1.1, 2.0}),
               v = tensor({0.3, 1.0, -0.4, 0.6, 0.2, -0.9, 0.8, 0.1, -0.5, 0.7}, {5, 2});
  const Tensor x = tensor({-0.8, 0.2, 0.7, 1.6}), dk = tensor({0.1, -0.2, 0.1, 0.3, -0.1}),
               dv = 0.3 * square(v) - 0.2, dx = tensor({0.2, -0.1, 0.3, 0.1});
  const auto check = [&](auto f) {
    const std::tuple at(x, k, v);
    // Half the distance to a knot bounds the step.
    const CheckReport g = gradcheck(f, at, {.order = 2, .step = 0.02});
    EXPECT_TRUE(g) << to_string(g);
    const CheckReport t = transpose_check(f, at, {.order = 2});
    EXPECT_TRUE(t) << to_string(t);
    const CheckReport j = jetcheck(f, at, std::tuple(dx, dk, dv), 3);
    EXPECT_TRUE(j) << to_string(j);
    const CheckReport m = vmap_check(f, at, {.rtol = 1e-11});
    EXPECT_TRUE(m) << to_string(m);
    const auto compiled = jit([&](Tensor a, Tensor b, Tensor c) { return f(a, b, c); });
    EXPECT_EQ(compiled(x, k, v).to_vector(), f(x, k, v).to_vector());
  };
  check([](Tensor a, Tensor b, Tensor c) { return interp(a, b, c); });
  check([](Tensor a, Tensor b, Tensor c) { return interp(a, b, c, Outside::extend); });
  for (SplineEnd e : kEnds)
    check(
        [e](Tensor a, Tensor b, Tensor c) { return interp(cubic_spline(b, c, e, 0.3, -0.7), a); });
  check([](Tensor a, Tensor b, Tensor c) { return interp(cubic_spline(b, c), a, -1); });
  const CheckReport ends = gradcheck(
      [&](Tensor a, Tensor b) { return interp(cubic_spline(k, v, SplineEnd::clamped, a, b), x); },
      std::tuple(tensor({0.3, 0.1}), tensor({-0.7, 0.2})), {.order = 2});
  EXPECT_TRUE(ends) << to_string(ends);
}

TEST(Interpolate, ComplexValues) {
  const Tensor k = reference("knots"), v = reference("values"), x = reference("queries"),
               z = complex(v, square(v));
  EXPECT_LE(largest(interp(cubic_spline(k, z), x) -
                    complex(interp(cubic_spline(k, v), x), interp(cubic_spline(k, square(v)), x))),
            1e-13);
  EXPECT_LE(largest(interp(x, k, z) - complex(interp(x, k, v), interp(x, k, square(v)))), 1e-15);
}

TEST(Tridiagonal, ProductAndSolutionAreThoseOfTheFullMatrix) {
  const Tensor bands = tensor({9.0, 0.5, -1.0, 0.3, 0.0, 2.0, 0.1, 1.5, 0.7, 1.2, -0.6, 9.0},
                              {3, 4});  // a zero pivot, exchanged
  const Tensor full = tensor({0.0, 0.7, 0.0, 0.0, 0.5, 2.0, 1.2, 0.0, 0.0, -1.0, 0.1, -0.6, 0.0,
                              0.0, 0.3, 1.5},
                             {4, 4}),
               b = tensor({1.0, 2.0, -0.5, 0.3});
  EXPECT_LE(largest(tridiagonal_product(bands, b) - matmul(full, b)), 1e-15);
  EXPECT_LE(largest(tridiagonal_solve(bands, b) - solve(full, b)), 1e-14);
  EXPECT_EQ(tridiagonal_solve(tensor({7.0, 2.0, 7.0}, {3, 1}), tensor({3.0})).item(), 1.5);
  EXPECT_THROW(tridiagonal_solve(zeros({3, 4}), b), Error);
  EXPECT_THROW(tridiagonal_solve(bands, tensor({1.0})), Error);
}

TEST(Tridiagonal, WhatStandsBesideTheMatrixIsNotRead) {
  const double any = NAN;
  const Tensor bands = tensor({any, 0.5, -1.0, 2.0, 3.0, 4.0, 0.1, 0.7, any}, {3, 3}),
               clean = tensor({0.0, 0.5, -1.0, 2.0, 3.0, 4.0, 0.1, 0.7, 0.0}, {3, 3}),
               b = tensor({1.0, 2.0, -0.5});
  EXPECT_EQ(largest(tridiagonal_product(bands, b) - tridiagonal_product(clean, b)), 0);
  EXPECT_EQ(largest(tridiagonal_solve(bands, b) - tridiagonal_solve(clean, b)), 0);
  EXPECT_EQ(tridiagonal_product(tensor({any, 2.0, any}, {3, 1}), tensor({3.0})).item(), 6);
}

}  // namespace
}  // namespace tessera
