// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/blocking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tessera::data {
namespace {

/// x_k = phi x_{k-1} + noise: inefficiency (1 + phi)/(1 - phi), variance 1/(1 - phi^2).
std::vector<double> autoregressive(double phi, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  double last = normal(random) / std::sqrt(1 - phi * phi);
  for (double& v : x) v = last = phi * last + normal(random);
  return x;
}

TEST(Blocking, LevelsAreThoseOfAveragedNeighbours) {
  std::vector<double> x = autoregressive(0.5, 37, 1);
  const BlockedMean b = blocked_mean(x);
  EXPECT_EQ(b.n, 37u);
  for (const BlockLevel& level : b.levels) {
    ASSERT_EQ(level.blocks, x.size());
    double mean = 0, c = 0;
    for (double v : x) mean += v / static_cast<double>(x.size());
    for (double v : x) c += (v - mean) * (v - mean) / static_cast<double>(x.size());
    EXPECT_NEAR(level.error, std::sqrt(c / static_cast<double>(x.size() - 1)), 1e-13);
    std::vector<double> halved(x.size() / 2);
    for (std::size_t k = 0; k < halved.size(); ++k) halved[k] = 0.5 * (x[2 * k] + x[2 * k + 1]);
    x = halved;
  }
  EXPECT_EQ(x.size(), 1u);
}

TEST(Blocking, IndependentValuesAreTakenAsTheyAre) {
  const BlockedMean b = blocked_mean(autoregressive(0, 1 << 14, 2));
  EXPECT_TRUE(b.plateau);
  EXPECT_NEAR(b.inefficiency, 1,
              0.2);  // five levels are looked at: blocks of 32, 512 of them, scatter 6 %
  EXPECT_NEAR(b.error, 1.0 / 128, 0.1 / 128);
  EXPECT_NEAR(b.mean, 0, 4.0 / 128);
}

TEST(Blocking, ErrorsOfDependentValuesAreTheirScatterOverManySeries) {
  for (double phi : {0.5, 0.9, 0.98}) {
    const double inefficiency = (1 + phi) / (1 - phi);
    constexpr std::size_t n = 1 << 14, series = 60;
    const double exact = std::sqrt(inefficiency / (1 - phi * phi) / n);
    double mean = 0, square = 0;
    for (unsigned s = 0; s < series; ++s) {
      const BlockedMean b = blocked_mean(autoregressive(phi, n, 100 + s));
      EXPECT_TRUE(b.plateau);
      mean += b.error / series;
      square += b.mean * b.mean / series;
    }
    EXPECT_NEAR(std::sqrt(square), exact,
                3.5 * exact / std::sqrt(2.0 * series));  // of the means themselves
    // Blocks end where they are nearly independent: some percent are missing, the more the slower
    // the series.
    EXPECT_NEAR(mean, exact, 0.1 * exact) << phi;
  }
}

TEST(Blocking, SaysWhenASeriesIsTooShort) {
  const BlockedMean b = blocked_mean(autoregressive(0.999, 500, 3));
  EXPECT_FALSE(b.plateau);
  EXPECT_GT(b.inefficiency, 10);
}

TEST(Blocking, OfNothingAndOfConstants) {
  EXPECT_EQ(blocked_mean({}).n, 0u);
  EXPECT_TRUE(std::isnan(blocked_mean({}).mean));
  EXPECT_TRUE(std::isnan(blocked_mean({}).error));
  EXPECT_TRUE(std::isnan(blocked_mean(std::vector<double>{3}).error));
  const BlockedMean b = blocked_mean(std::vector<double>(100, 2.5));
  EXPECT_EQ(b.mean, 2.5);
  EXPECT_EQ(b.error, 0);
  EXPECT_EQ(b.inefficiency, 1);
  EXPECT_TRUE(b.plateau);
}

}  // namespace
}  // namespace tessera::data
