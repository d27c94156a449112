// SPDX-License-Identifier: Apache-2.0
//
// What tables do not show of Bessel functions: identities, limits, branches, scaled and spherical
// forms, threads.
#include "tessera/autodiff/ops/bessel.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera {
namespace {

constexpr double kPi = std::numbers::pi;

double pointwise_error(const Tensor& a, const Tensor& b) { return max(abs(a - b) / abs(b)).item(); }
/// Radii 1e-3 ... 80 on 16 rays that begin at angle `first`, over `turns` of the circle; none lies
/// on an axis.
Tensor rays(double first, double turns) {
  std::vector<c128> z;
  for (double r : {1e-3, 0.4, 1.99, 2.01, 6.0, 17.0, 24.9, 25.1, 80.0})
    for (int k = 0; k < 16; ++k)
      z.push_back(std::polar(r, first + 2 * kPi * turns * (k + 0.4) / 16));
  return tensor(z);
}
Tensor plane() { return rays(-kPi, 1); }

// DLMF 10.28.2 and 10.5.3, each in the half plane where its terms do not cancel.
TEST(Bessel, Wronskians) {
  const Tensor right = rays(-kPi / 2, 0.5), above = rays(0, 0.5),
               one = ones(right.shape(), Dtype::c128);
  for (double v : {0.0, 0.3, 0.5, 1.0, 3.7, 12.0, 40.25}) {
    const Tensor ik = bessel_ie(v, right) * bessel_ke(v + 1, right) +
                      bessel_ie(v + 1, right) * bessel_ke(v, right);
    EXPECT_LE(pointwise_error(ik * right * exp(c128(0, -1) * cast(imag(right), Dtype::c128)), one),
              1e-13)
        << v;
    const Tensor jh =
        bessel_je(v + 1, above) * hankel1e(v, above) - bessel_je(v, above) * hankel1e(v + 1, above);
    EXPECT_LE(pointwise_error(jh * above * exp(c128(0, 1) * cast(real(above), Dtype::c128)),
                              c128(0, 2 / kPi) * one),
              1e-13)
        << v;
  }
}

TEST(Bessel, HalfOrdersAreElementary) {
  const Tensor x = tensor({0.01, 0.5, 1.0, 2.5, 7.0, 30.0, 100.0});
  EXPECT_LE(max(abs(bessel_j(0.5, x) - sqrt(2 / kPi / x) * sin(x))).item(), 2e-15);
  EXPECT_LE(max(abs(bessel_j(-0.5, x) - sqrt(2 / kPi / x) * cos(x))).item(), 2e-14);
  EXPECT_LE(pointwise_error(bessel_k(0.5, x), sqrt(kPi / 2 / x) * exp(-x)), 1e-14);
  EXPECT_LE(pointwise_error(bessel_i(-1.5, x), sqrt(2 / kPi / x) * (sinh(x) - cosh(x) / x)), 1e-13);
  EXPECT_LE(max(abs(spherical_j(0, x) - sin(x) / x)).item(), 1e-15);
  EXPECT_LE(pointwise_error(spherical_y(1, x), -cos(x) / square(x) - sin(x) / x), 1e-12);
}

// j_n(-z) = (-1)^n j_n(z) and y_n(-z) = (-1)^(n+1) y_n(z): they have no cut.
TEST(Bessel, SphericalFunctionsHaveAParityAndNoCut) {
  const Tensor x = tensor({0.3, 2.0, 7.5}), one = ones(x.shape());
  for (int n : {0, 1, 2, 5}) {
    const double sign = n % 2 ? -1 : 1;
    const auto j = [n](Tensor z) { return spherical_j(n, z); };
    const auto y = [n](Tensor z) { return spherical_y(n, z); };
    EXPECT_LE(pointwise_error(j(neg(x)), sign * j(x)), 1e-15) << n;
    EXPECT_LE(pointwise_error(y(neg(x)), -sign * y(x)), 1e-15) << n;
    EXPECT_LE(pointwise_error(jvp(y, neg(x), one).second, sign * jvp(y, x, one).second), 1e-15)
        << n;
    for (const double side : {0.0, -0.0}) {
      const Tensor z = complex(neg(x), full(x.shape(), side));
      EXPECT_LE(pointwise_error(j(z), cast(sign * j(x), Dtype::c128)), 1e-12) << n << ", " << side;
      EXPECT_LE(pointwise_error(y(z), cast(-sign * y(x), Dtype::c128)), 1e-12) << n << ", " << side;
    }
  }
  EXPECT_EQ(spherical_y(2, Tensor(0.0)).item(), -INFINITY);
}

TEST(Bessel, RecurrenceAndGeneratingFunction) {
  const Tensor z = plane();
  for (double v : {0.4, 2.0, 9.3})
    EXPECT_LE(max(abs(bessel_je(v - 1, z) + bessel_je(v + 1, z) - 2 * v / z * bessel_je(v, z)) /
                  (abs(bessel_je(v - 1, z)) + abs(bessel_je(v + 1, z))))
                  .item(),
              1e-14)
        << v;
  const Tensor x = tensor({0.3, 2.0, 11.0});
  Tensor total = square(bessel_j(0, x));  // 1 = J_0^2 + 2 sum J_n^2
  for (int n = 1; n < 60; ++n) total = total + 2.0 * square(bessel_j(n, x));
  EXPECT_LE(max(abs(total - 1.0)).item(), 1e-14);
}

TEST(Bessel, LimitsAndBranches) {
  const Tensor zero = tensor({0.0});
  EXPECT_EQ(bessel_j(0, zero).item(), 1);
  EXPECT_EQ(bessel_i(2.5, zero).item(), 0);
  EXPECT_EQ(bessel_y(1, zero).item(), -INFINITY);
  EXPECT_EQ(bessel_k(0, zero).item(), INFINITY);
  const Tensor minus = tensor({-2.0});
  EXPECT_TRUE(std::isnan(bessel_k(0, minus).item()));
  EXPECT_TRUE(std::isnan(bessel_j(0.5, minus).item()));
  EXPECT_EQ(bessel_j(3, minus).item(), -bessel_j(3, tensor({2.0})).item());
  // K_0(-2 +- i0) = K_0(2) -+ i pi I_0(2): the sign of the imaginary zero chooses.
  const auto k = bessel_k(0, tensor({c128(-2, 0.0), c128(-2, -0.0)})).to_vector<c128>();
  EXPECT_NEAR(k[0].imag(), -kPi * bessel_i(0, tensor({2.0})).item(), 1e-14);
  EXPECT_EQ(k[1], std::conj(k[0]));
  EXPECT_TRUE(std::isfinite(bessel_ie(1, tensor({5000.0})).item()));
  EXPECT_EQ(bessel_i(1, tensor({5000.0})).item(), INFINITY);
}

// Near 0 functions of negative order go up or down to infinity, or to 0, as reflection says; at 0
// they are there.
TEST(Bessel, NegativeOrdersAtTheOriginAreLimits) {
  const auto reaches = [](const Tensor& at, const Tensor& near, const std::string& what) {
    const double a = at.item(), b = near.item();
    if (std::abs(b) > 1)
      EXPECT_TRUE(std::isinf(a) && (a > 0) == (b > 0)) << what << ": " << a << ", near 0 " << b;
    else
      EXPECT_EQ(a, 0) << what << ", near 0 " << b;
  };
  const Tensor zero(0.0), small(1e-12);
  for (const double v : {-0.5, -0.7, -1.0, -1.5, -2.0, -2.5, -3.0, -3.25, -4.5}) {
    const std::string order = std::to_string(v);
    reaches(bessel_j(v, zero), bessel_j(v, small), "J " + order);
    reaches(bessel_y(v, zero), bessel_y(v, small), "Y " + order);
    reaches(bessel_i(v, zero), bessel_i(v, small), "I " + order);
    reaches(bessel_k(v, zero), bessel_k(v, small), "K " + order);
    if (std::floor(v) != v) continue;
    reaches(imag(hankel1(v, zero)), imag(hankel1(v, small)), "H1 " + order);
    reaches(imag(hankel2(v, zero)), imag(hankel2(v, small)), "H2 " + order);
  }
}

// Y_v(x) ~ -Gamma(v) (2 / x)^v / pi, and J_{-v}(x) ~ (x / 2)^-v / Gamma(1 - v), beyond the range of
// double.
TEST(Bessel, OverflowNearTheOriginKeepsTheSign) {
  const Tensor x(1e-200);
  for (const double v : {2.0, 2.5, 3.0, 3.7, 4.0, 5.0, 102.0}) {
    EXPECT_EQ(bessel_y(v, x).item(), -INFINITY) << v;
    EXPECT_EQ(bessel_ye(v, x).item(), -INFINITY) << v;
    EXPECT_EQ(imag(hankel1(v, x)).item(), -INFINITY) << v;
    EXPECT_EQ(imag(hankel2(v, x)).item(), INFINITY) << v;
  }
  EXPECT_EQ(bessel_y(50, Tensor(1e-6)).item(), -INFINITY);
  for (int n = 1; n < 6; ++n) EXPECT_EQ(spherical_y(n, x).item(), -INFINITY) << n;
  EXPECT_EQ(bessel_y(-3, x).item(), INFINITY);
  EXPECT_EQ(bessel_j(-2.5, x).item(), INFINITY);
  EXPECT_EQ(bessel_j(-3.5, x).item(), -INFINITY);
  EXPECT_EQ(bessel_j(3, x).item(), 0);
  const auto slope = jvp([](Tensor x) { return bessel_y(1, x); }, x, Tensor(1.0)).second;
  EXPECT_EQ(slope.item(), INFINITY);
}

TEST(Bessel, DerivativesAtTheOrigin) {
  const auto third = [](auto f) {
    const auto first = [f](Tensor x) { return jvp(f, x, ones({}, x.dtype())).second; };
    const auto second = [first](Tensor x) { return jvp(first, x, ones({}, x.dtype())).second; };
    return [second](Tensor x) { return jvp(second, x, ones({}, x.dtype())).second; };
  };
  const Tensor zero = Tensor(0.0);
  EXPECT_NEAR(third([](Tensor x) { return bessel_j(1, x); })(zero).item(), -3.0 / 8, 1e-15);
  EXPECT_NEAR(third([](Tensor x) { return bessel_i(3, x); })(zero).item(), 1.0 / 8, 1e-15);
  EXPECT_NEAR(third([](Tensor x) { return spherical_j(1, x); })(zero).item(), -1.0 / 5,
              1e-15);  // x/3 - x^3/30
  EXPECT_NEAR(third([](Tensor x) { return spherical_j(3, x); })(zero).item(), 6.0 / 105, 1e-15);
  for (int n : {0, 2, 5})  // both sides of the change of formula at 1
    EXPECT_NEAR(third([n](Tensor x) { return spherical_j(n, x); })(Tensor(1.0)).item(),
                third([n](Tensor x) { return spherical_j(n, x); })(Tensor(1.0 + 1e-12)).item(),
                1e-11);
}

}  // namespace
}  // namespace tessera
