// SPDX-License-Identifier: Apache-2.0
//
// The chain rule of maps, beside derivatives of the whole by the engine and by steps.
#include "tessera/inversion/through.h"

#include "forward_checks.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

Tensor inner_of(const Tensor& x) {  // [2] -> [3]
  const Tensor a = slice(x, 0, 0, 1), b = slice(x, 0, 1, 2);
  return concatenate({sin(a) * b, exp(0.3 * b) + a, a * a - b}, 0);
}
Tensor outer_of(const Tensor& m) {  // [3] -> [4]
  const Tensor a = slice(m, 0, 0, 1), b = slice(m, 0, 1, 2), c = slice(m, 0, 2, 3);
  return concatenate({a * b, sin(b + c), exp(-a) * c, b * b * c}, 0);
}
/// All that linearize and curvature say, as jacobian and hessian.
ForwardMap with_numbers(ForwardMap f) {
  if (!f.jacobian)
    f.jacobian = [l = f.linearize](const std::vector<double>& x) { return dense(l(x)); };
  if (!f.hessian)
    f.hessian = [c = f.curvature](const std::vector<double>& x, const std::vector<double>& y) {
      return dense(c(x, y));
    };
  return f;
}
void expect_near(const Matrix& a, const Matrix& b, double tolerance) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.cols, b.cols);
  for (std::size_t k = 0; k < a.values.size(); ++k)
    EXPECT_NEAR(a.values[k], b.values[k], tolerance) << k;
}

TEST(Through, IsTheMapOfTheWholeWithItsFirstAndSecondDerivatives) {
  const ForwardMap whole = engine_map(2, [](const Tensor&x) { return outer_of(inner_of(x)); }),
                   parts = through(engine_map(3, outer_of), engine_map(2, inner_of));
  const std::vector<double> x{0.4, -0.7}, y{0.3, -1, 2, 0.5};
  EXPECT_EQ(parts.n_parameters, 2u);
  EXPECT_EQ(parts.n_data, 4u);
  EXPECT_EQ(parts.predict(x), whole.predict(x));
  // Sums of three products of numbers of the order of one.
  expect_near(parts.jacobian(x), whole.jacobian(x), 1e-14);
  expect_near(dense(parts.linearize(x)), whole.jacobian(x), 1e-14);
  expect_near(dense(parts.curvature(x, y)), dense(whole.curvature(x, y)), 1e-13);
}

TEST(Through, ProductsAloneGiveTheSame) {
  ForwardMap f = engine_map(3, outer_of), g = engine_map(2, inner_of);
  const ForwardMap numbers = through(f, g);
  f.jacobian = nullptr;
  g.jacobian = nullptr;
  const ForwardMap products = through(f, g);
  EXPECT_FALSE(products.jacobian);
  const std::vector<double> x{0.4, -0.7}, y{0.3, -1, 2, 0.5};
  const LinearMap l = products.linearize(x);
  expect_near(dense(l), numbers.jacobian(x), 1e-14);
  expect_near(dense(products.curvature(x, y)), dense(numbers.curvature(x, y)), 1e-13);
  const std::vector<double> t{1.1, -0.2}, a = l.times(t), b = l.transposed_times(y);
  double left = 0, right = 0;
  for (std::size_t k = 0; k < 4; ++k) left += a[k] * y[k];
  for (std::size_t k = 0; k < 2; ++k) right += b[k] * t[k];
  EXPECT_NEAR(left, right, 1e-14);
}

TEST(Through, PullsBackByWhatIsThere) {
  ForwardMap f = engine_map(3, outer_of);
  const ForwardMap g = engine_map(2, inner_of), plain = through(f, g);
  EXPECT_FALSE(plain.pullback);
  int asked = 0;
  f.pullback = [f, &asked](const std::vector<double>& m) {
    ++asked;
    return PulledBack{f.predict(m), f.linearize(m).transposed_times};
  };
  const ForwardMap back = through(f, g);
  const std::vector<double> x{0.4, -0.7}, y{0.3, -1, 2, 0.5};
  const PulledBack a = pulled_back(plain, x), b = pulled_back(back, x);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(a.value, plain.predict(x));
  EXPECT_EQ(b.value, a.value);
  EXPECT_EQ(b.pull(y), a.pull(y));
}

TEST(Through, TaylorSlopesOfALayeredEarthBehindAFunction) {
  const ForwardMap f =
      with_numbers(through(layered_forward({0.1, 1, 10, 100}, {300, 900}),
                           engine_map(2, [](const Tensor& x) { return 4.0 + 0.5 * inner_of(x); })));
  expect_taylor_slopes(f, {0.4, -0.7}, {1, 0.6});
}

TEST(Through, MapsOfReversedShapesHaveTheirJacobiansInEitherMode) {
  const ForwardMap wide = engine_map(3, [](const Tensor& x) { return sum(sin(x) * x, {0}, true); });
  EXPECT_EQ(wide.n_data, 1u);  // by reverse mode; products by forward mode
  const std::vector<double> x{0.3, -1, 2};
  expect_near(wide.jacobian(x), dense(wide.linearize(x)), 1e-15);
}

TEST(Through, WhatHasNoSecondDerivativesGivesNone) {
  ForwardMap f = engine_map(3, outer_of);
  f.curvature = nullptr;
  EXPECT_FALSE(through(f, engine_map(2, inner_of)).curvature);
  EXPECT_FALSE(through(engine_map(2, inner_of),
                       through(engine_map(2, [](const Tensor& x) { return 2.0 * x; }),
                               engine_map(2, [](const Tensor& x) { return x + 1.0; })))
                   .hessian);
}

TEST(Through, MapsThatDoNotFitAreRefused) {
  EXPECT_THROW(through(engine_map(3, outer_of), engine_map(3, outer_of)), Error);
  EXPECT_THROW(engine_map(2, [](const Tensor& x) { return sum(x); }), Error);
  EXPECT_THROW(engine_map(2, [](const Tensor& x) { return cast(x, Dtype::f32); }), Error);
}

TEST(LinearMap, FromTheLeftOfEachKind) {
  Matrix a(3, 4), b(2, 3);
  for (std::size_t k = 0; k < 12; ++k) a.values[k] = k % 3 == 1 ? 0 : std::sin(k + 1.0);
  for (std::size_t k = 0; k < 6; ++k) b.values[k] = std::cos(2.0 * k);
  Matrix by_hand(2, 4);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 3; ++k) by_hand(i, j) += b(i, k) * a(k, j);
  LinearMap products = linear_map(a);
  products.from_left = nullptr;
  expect_near(from_left(b, linear_map(a)), by_hand, 1e-15);
  expect_near(from_left(b, linear_map(sparse(a))), by_hand, 1e-15);
  expect_near(from_left(b, products), by_hand, 1e-15);
  expect_near(dense(linear_map(sparse(a))), a, 0);
  EXPECT_EQ(from_left(Matrix(0, 3), linear_map(a)).cols, 4u);
  EXPECT_THROW(from_left(Matrix(2, 4), linear_map(a)), Error);
}

}  // namespace
}  // namespace tessera::inversion
