// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/regularization.h"

#include "tessera/data/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

SmoothPrior prior(int n, double step, int order = 1) {
  SmoothPrior p;
  for (int j = 0; j < n; ++j) {
    p.mean.push_back(2.0);
    p.log10_depth.push_back(1.0 + step * j);
  }
  p.order = order;
  return p;
}

// The process is known by its covariance s^2 exp(-|dx| / l): the inverse of the precision.
TEST(SmoothPrior, PrecisionIsTheInverseOfTheExponentialCovariance) {
  SmoothPrior p = prior(12, 0.17);
  p.std_ln_rho = 0.8;
  p.log10_depth[5] += 0.09;  // uneven spacing too
  const double l = 1.3;
  const GaussianPrior g = p.at(SmoothPrior::mu_of(0.8, l));
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 12; ++j) {
      double product = 0;  // precision times covariance
      for (std::size_t k = 0; k < 12; ++k)
        product +=
            g.precision(i, k) * 0.64 * std::exp(-std::abs(p.log10_depth[k] - p.log10_depth[j]) / l);
      EXPECT_NEAR(product, i == j, 1e-12);
    }
}

TEST(SmoothPrior, PenaltyTendsToMuTimesRoughness) {
  SmoothPrior p = prior(60, 0.05);
  p.std_ln_rho = 1e3;  // the anchor vanishes
  std::vector<double> m;
  for (double x : p.log10_depth) m.push_back(2 + std::sin(2 * x));
  const double mu = 3.0;
  EXPECT_NEAR(p.at(mu).penalty(m), mu * p.roughness(m), 1e-4 * mu * p.roughness(m));
  // int (2 cos 2x)^2 dx over the range, by the integral: 2 x + sin(4x)/2
  const double a = p.log10_depth.front(), b = p.log10_depth.back();
  const double exact = 2 * (b - a) + 0.5 * (std::sin(4 * b) - std::sin(4 * a));
  EXPECT_NEAR(p.roughness(m), exact, 2e-3 * exact);  // second order in the spacing
}

TEST(SmoothPrior, SecondOrderMeasuresCurvature) {
  SmoothPrior p = prior(80, 0.04, 2);
  p.log10_depth[10] += 0.01;
  std::vector<double> line, parabola;
  for (double x : p.log10_depth) {
    line.push_back(2 + 3 * x);
    parabola.push_back(2 + 1.5 * x * x);
  }
  EXPECT_NEAR(p.roughness(line), 0, 1e-18 * 1e6);
  const double inner =
      0.5 * (p.log10_depth[79] + p.log10_depth[78] - p.log10_depth[1] - p.log10_depth[0]);
  EXPECT_NEAR(p.roughness(parabola), 9 * inner, 1e-8);
}

TEST(SmoothPrior, MuToZeroRemovesThePenalty) {
  const SmoothPrior p = prior(10, 0.2);
  const std::vector<double> m{5, -3, 4, 0, 9, 2, -7, 1, 1, 1};
  EXPECT_LT(p.at(1e-9).penalty(m), 1e-4);
  EXPECT_GT(p.standard_deviation(1e-9), 1e3);
}

TEST(GaussianPrior, DrawsHaveItsCovariance) {
  const SmoothPrior p = prior(3, 0.5);
  const GaussianPrior g = p.at(SmoothPrior::mu_of(p.std_ln_rho, 1.0));
  const int n = 20000;
  double var = 0, cov = 0;
  for (int k = 0; k < n; ++k) {
    std::vector<double> xi(3);
    for (std::size_t j = 0; j < 3; ++j) xi[j] = data::normal({9, static_cast<std::uint64_t>(k)}, j);
    const auto m = draw(g, xi);
    var += (m[2] - 2) * (m[2] - 2) / n;
    cov += (m[0] - 2) * (m[2] - 2) / n;
  }
  const double s2 = p.std_ln_rho * p.std_ln_rho;
  EXPECT_NEAR(var, s2, 0.05 * s2);  // five standard errors sqrt(2 / n)
  EXPECT_NEAR(cov, s2 * std::exp(-1.0), 0.05 * s2);
}

TEST(Random, PhiloxKnownAnswer) {
  // Known-answer test of the Random123 distribution: philox4x32-10, counter and key all zero.
  const auto r = data::philox({0, 0}, 0);
  EXPECT_EQ(r[0], 0x6627e8d5u);
  EXPECT_EQ(r[1], 0xe169c58du);
  EXPECT_EQ(r[2], 0xbc57ac4cu);
  EXPECT_EQ(r[3], 0x9b00dbd8u);
}

}  // namespace
}  // namespace tessera::inversion
