// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/ensemble_tests.h"

#include "molecular_cases.h"
#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

std::vector<double> gamma_samples(double shape, double scale, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::gamma_distribution<double> any(shape, scale);
  std::vector<double> out(n);
  for (double& x : out) x = any(random);
  return out;
}

TEST(EnsembleTests, GammaDistribution) {
  // P(1, x) = 1 - e^-x, P(1/2, x) = erf(sqrt x), P(a, a) -> 1/2 + 1/(3 sqrt(2 pi a)); recurrence
  // P(a + 1, x) = P(a, x) - x^a e^-x/Gamma(a + 1).
  for (const double x : {0.1, 0.9, 1.5, 4.0, 20.0}) {
    EXPECT_NEAR(gamma_distribution(1, x), 1 - std::exp(-x), 1e-14);
    EXPECT_NEAR(gamma_distribution(0.5, x), std::erf(std::sqrt(x)), 1e-14);
    EXPECT_NEAR(gamma_distribution(3.7, x),
                gamma_distribution(2.7, x) - std::exp(2.7 * std::log(x) - x - std::lgamma(3.7)),
                1e-13);
  }
  EXPECT_NEAR(gamma_distribution(3000, 3000),
              0.5 + 1 / (3 * std::sqrt(2 * 3.14159265358979 * 3000)), 1e-6);
}

TEST(EnsembleTests, KineticDistributionSeesTemperatureAndWidth) {
  const double t = 300, kt = gas_constant * t, freedom = 600;
  int small = 0;
  for (unsigned seed = 0; seed < 40; ++seed)
    small += kinetic_distribution(gamma_samples(freedom / 2, kt, 500, seed), freedom, t).p < 0.1;
  EXPECT_LT(small, 11) << "four in forty are expected; eleven or more have a probability of 1e-3";
  EXPECT_LT(kinetic_distribution(gamma_samples(freedom / 2, kt, 2000, 1), freedom, 1.01 * t).p,
            1e-6);
  std::vector<double> narrow = gamma_samples(freedom / 2, kt, 2000, 1);
  for (double& k : narrow) k = 300 * kt + 0.6 * (k - 300 * kt);
  EXPECT_LT(kinetic_distribution(narrow, freedom, t).p, 1e-6);
  EXPECT_THROW(kinetic_distribution(std::vector<double>(5, 1.0), freedom, t), Error);
}

TEST(EnsembleTests, LogRatioIsTheDifferenceOfTemperatures) {
  // Gamma distributions of one shape are x^(s - 1) e^(-x/scale): the slope is 1/scale_a -
  // 1/scale_b.
  double squares = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const PairTest t = log_ratio_test(gamma_samples(50, 1, 400, 2 * seed),
                                      gamma_samples(50, 1.1, 600, 2 * seed + 1), 1 - 1 / 1.1);
    squares += t.deviations() * t.deviations() / 60;
  }
  EXPECT_NEAR(squares, 1, 4 * std::sqrt(2 / 60.0)) << "errors are what they say";
  EXPECT_GT(
      std::abs(log_ratio_test(gamma_samples(50, 1, 2000, 1), gamma_samples(50, 1.1, 2000, 2), 0.2)
                   .deviations()),
      6);
  EXPECT_THROW(log_ratio_test(std::vector<double>(30, 1.0), std::vector<double>(30, 2.0), 1),
               Error);
}

TEST(EnsembleTests, CorrelatedSeries) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> any(0, 1);
  std::vector<double> s(40000);
  const double c = 0.8;  // C(t) = c^t: g = (1 + c)/(1 - c) = 9
  for (std::size_t i = 1; i < s.size(); ++i)
    s[i] = c * s[i - 1] + std::sqrt(1 - c * c) * any(random);
  EXPECT_NEAR(statistical_inefficiency(s), 9, 1.5);
  EXPECT_EQ(thinned(s, 8.2).size(), 4445U);
  EXPECT_EQ(statistical_inefficiency(std::vector<double>(10, 2.0)), 1);
}

TEST(EnsembleTests, PublishedSeriesOfWater) {
  // 900 rigid waters at 298.15 and 308.15 K (physical_validation): 8100 - 2700 - 3 degrees of
  // freedom.
  const auto read = [](const std::string& state, const std::string& what) {
    std::ifstream in(tessera::testing::test_data() / "md/ensemble/Water900" / state /
                     (what + ".dat"));
    std::vector<double> v;
    std::string line;
    while (std::getline(in, line)) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream fields(line);
      double x = 0;
      while (fields >> x) {
      }
      v.push_back(x);
    }
    return v;
  };
  const std::vector<double> low = read("NVT-low", "potential"),
                            high = read("NVT-high", "potential"),
                            kinetic = read("NVT-low", "kinetic");
  if (low.empty()) GTEST_SKIP() << "no md/ensemble/Water900";
  const auto independent = [](const std::vector<double>& s) {
    return thinned(s, statistical_inefficiency(s));
  };
  const PairTest t = log_ratio_test(independent(low), independent(high),
                                    1 / (gas_constant * 298.15) - 1 / (gas_constant * 308.15));
  EXPECT_LT(std::abs(t.deviations()), 3);
  EXPECT_LT(t.error, 0.1 * t.expected);
  EXPECT_GT(kinetic_distribution(independent(kinetic), 5397, 298.15).p, 0.01);
}

}  // namespace
}  // namespace tessera::molecular
