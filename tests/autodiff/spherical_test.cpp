// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/spherical.h"

#include "special_reference.h"
#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera {
namespace {

using testing::largest;

constexpr double pi = std::numbers::pi;
Index position(int l, int m) { return Index(l) * l + l + m; }

TEST(SphericalHarmonics, FirstDegreesByHand) {
  const double x = 0.3, y = -0.5, z = 0.8, a = std::sqrt(3 / (4 * pi)),
               b = std::sqrt(15 / (4 * pi)), c = std::sqrt(5 / (16 * pi));
  const Tensor got = solid_harmonics(2, tensor({x, y, z}));
  const Tensor want = tensor({std::sqrt(1 / (4 * pi)), a * y, a * z, a * x, b * x * y, b * y * z,
                              c * (2 * z * z - x * x - y * y), b * x * z, b / 2 * (x * x - y * y)});
  EXPECT_LE(largest(got - want), 2.3e-16);
}

TEST(SphericalHarmonics, ComplexOnesAgainstMpmathUpToDegree50) {
  for (const ReferenceLine& r : special_reference("harmonic")) {
    const int l = static_cast<int>(r.cells[0]), m = static_cast<int>(r.cells[1]);
    const Tensor direction = tensor({r.cells[2], r.cells[3], r.cells[4]});
    const c128 want(r.cells[5], r.cells[6]),
        got = select(complex_spherical_harmonics(l, direction), 0, position(l, m)).item<c128>();
    const double tolerance =
        1e-15 + 1.2e-16 * l * l;  // half an ulp of z moves Y by up to l^2 / 2 of that
    EXPECT_LE(std::abs(got - want), tolerance)
        << "l " << l << " m " << m << " at " << to_string(direction);
    // The real ones are their real and imaginary parts.
    const double real_one = select(spherical_harmonics(l, direction), 0, position(l, m)).item();
    const c128 positive = (m < 0 || m % 2 == 0 ? 1.0 : -1.0) * want;  // N P e^{i m phi}
    EXPECT_NEAR(real_one,
                m == 0 ? positive.real()
                       : std::numbers::sqrt2 * (m > 0 ? positive.real() : -positive.imag()),
                std::numbers::sqrt2 * tolerance);
  }
}

TEST(SphericalHarmonics, AdditionTheorem) {
  constexpr int l_max = 100;
  const Tensor u = tensor({0.2, -1.0, 0.4}), v = tensor({-0.7, 0.1, 0.9});
  const double cosine = (sum(u * v) / (norm(u) * norm(v))).item();
  const std::vector<double> products =
      (spherical_harmonics(l_max, u) * spherical_harmonics(l_max, v)).to_vector();
  double below = 0, p = 1;
  for (int l = 0; l <= l_max; ++l) {  // sum over m of Y_lm(u) Y_lm(v) = (2l+1)/(4 pi) P_l(cos)
    double s = 0;
    for (int m = -l; m <= l; ++m) s += products[static_cast<std::size_t>(position(l, m))];
    EXPECT_NEAR(s, (2 * l + 1) / (4 * pi) * p, 3e-15 * (2 * l + 1)) << l;
    const double next = ((2 * l + 1) * cosine * p - l * below) / (l + 1);
    below = p, p = next;
  }
}

/// Points and weights exact for polynomials of degree below 2 n: Gauss-Legendre in z, equal steps
/// in phi.
std::pair<Tensor, Tensor> quadrature(int n) {
  std::vector<double> points, weights;
  for (int i = 0; i < n; ++i) {
    double z = std::cos(pi * (i + 0.75) / (n + 0.5)), slope = 0;
    for (int step = 0; step < 20; ++step) {
      double a = 1, b = z;
      for (int k = 2; k <= n; ++k) a = std::exchange(b, ((2 * k - 1) * z * b - (k - 1) * a) / k);
      slope = n * (z * b - a) / (z * z - 1);
      z -= b / slope;
    }
    for (int k = 0; k < 2 * n; ++k) {
      const double s = std::sqrt(1 - z * z), phi = pi * k / n;
      points.insert(points.end(), {s * std::cos(phi), s * std::sin(phi), z});
      weights.push_back(2 / ((1 - z * z) * slope * slope) * pi / n);
    }
  }
  return {tensor(points, {2 * n * n, 3}), tensor(weights, {2 * n * n, 1})};
}

TEST(SphericalHarmonics, OrthonormalOverTheSphere) {
  constexpr int l_max = 20;
  const auto [points, weights] = quadrature(l_max + 1);
  const Tensor y = spherical_harmonics(l_max, points),
               z = complex_spherical_harmonics(l_max, points);
  const Index n = (l_max + 1) * (l_max + 1);
  EXPECT_LE(largest(matmul(transpose(y), weights * y) - eye(n)), 1e-13);
  EXPECT_LE(largest(matmul(adjoint(z), cast(weights, Dtype::c128) * z) - eye(n, Dtype::c128)),
            1e-13);
}

TEST(SphericalHarmonics, SolidOnesSolveLaplacesEquation) {
  const Tensor r = tensor({0.4, -0.6, 0.3});
  const auto values = [](Tensor x) { return solid_harmonics(8, x); };
  const Tensor second = jacfwd(jacfwd(values))(r);
  EXPECT_LE(largest(trace(second)) / largest(second), 1e-14);
}

TEST(SphericalHarmonics, AngularMomentumHasItsEigenvalue) {
  // On the unit sphere the Laplacian of what is constant along rays is -l (l + 1) Y.
  for (const std::vector<double>& at :
       {std::vector<double>{0.6, 0.0, 0.8}, {0.0, 0.0, 1.0}, {0.0, 0.0, -1.0}}) {
    const Tensor r = tensor(at), y = spherical_harmonics(12, r),
                 bend =
                     trace(jacfwd(jacrev([](Tensor x) { return spherical_harmonics(12, x); }))(r));
    for (int l = 0; l <= 12; ++l)
      for (int m = -l; m <= l; ++m)
        EXPECT_NEAR(select(bend, 0, position(l, m)).item(),
                    -l * (l + 1) * select(y, 0, position(l, m)).item(),
                    1e-14 * (1 + l * l * l * l));
  }
}

TEST(SphericalHarmonics, DerivativesExistAtThePoles) {
  const Tensor pole = tensor({0.0, 0.0, 1.0});
  // Along x only orders +-1 move: d Y_l1 / dx = sqrt((2l+1) l (l+1) / (8 pi)).
  const Tensor slope =
      jvp([](Tensor x) { return spherical_harmonics(30, x); }, pole, tensor({1.0, 0.0, 0.0}))
          .second;
  for (int l = 0; l <= 30; ++l)
    for (int m = -l; m <= l; ++m)
      EXPECT_NEAR(select(slope, 0, position(l, m)).item(),
                  m == 1 ? std::sqrt((2 * l + 1) * l * (l + 1) / (8 * pi)) : 0, 1e-12);
  const Tensor directions = tensor({0.0, 0.0, 1.0, 0.0, 0.0, -2.0, 0.3, -0.2, 0.5}, {3, 3}),
               v = tensor({0.5, -0.3, 0.2, 0.1, 0.4, -0.6, 0.7, 0.2, 0.1}, {3, 3});
  for (auto f : {solid_harmonics, spherical_harmonics}) {
    const auto g = [f](Tensor x) { return f(5, x); };
    const CheckReport c = gradcheck(g, directions, {.order = 2});
    EXPECT_TRUE(c) << to_string(c);
    const CheckReport j = jetcheck(g, directions, v, 3);
    EXPECT_TRUE(j) << to_string(j);
    const CheckReport m = vmap_check(g, directions);
    EXPECT_TRUE(m) << to_string(m);
  }
  const CheckReport t = transpose_check([](Tensor x) { return complex_spherical_harmonics(4, x); },
                                        directions, {.order = 2});
  EXPECT_TRUE(t) << to_string(t);
}

TEST(SphericalHarmonics, OnlyVectorsHaveThem) {
  EXPECT_THROW(spherical_harmonics(2, tensor({1.0, 2.0})), Error);
  EXPECT_THROW(spherical_harmonics(-1, tensor({1.0, 2.0, 3.0})), Error);
  EXPECT_EQ(spherical_harmonics(3, ones({4, 2, 3}, Dtype::f32)).type(),
            (Type{Dtype::f32, {4, 2, 16}}));
}

}  // namespace
}  // namespace tessera
