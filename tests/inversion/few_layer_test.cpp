// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/few_layer.h"

#include "smooth_case.h"
#include "three_layers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

TEST(Segment, FindsTheStepsOfASteppedModel) {
  const Layering layering = logarithmic_layering(10, 10000, 32);
  const auto z = bottoms(layering.thickness_m);
  std::vector<double> ln_rho(32);
  for (std::size_t j = 0; j < 32; ++j) ln_rho[j] = j < 9 ? 1.0 : j < 20 ? 4.0 : 2.5;
  const LayeredEarth m = segment(layering, ln_rho, 3);
  ASSERT_EQ(m.resistivity_ohm_m.size(), 3u);
  EXPECT_NEAR(std::log(m.resistivity_ohm_m[1]), 4.0, 1e-12);
  EXPECT_NEAR(m.thickness_m[0], z[8], 1e-9);
  EXPECT_NEAR(m.thickness_m[0] + m.thickness_m[1], z[19], 1e-9);
}

TEST(FewLayer, RecoversTheTruthFromCleanData) {
  std::mt19937_64 random(3);
  const std::vector<double>&rho = three_layers::rho, &h = three_layers::h;
  const auto f = oracle::log_frequencies(1e-3, 300, 35);
  const auto [r, layering, smooth, p] =
      smooth_case(oracle::synthetic(f, rho, h, 0.02, 0.0, random), 40);
  const auto start = gauss_newton(p, smooth.at(1.0), smooth.mean);
  const auto forward = [&](int n) {
    return oracle::layered_forward(f, std::vector<double>(static_cast<std::size_t>(n - 1), 1.0),
                                   true);
  };
  // The weak prior pulls by far less than the 2 % errors would allow.
  const FewLayerResult three = few_layer(p, forward, layering, start.m, {.layers = 3});
  ASSERT_EQ(three.model.resistivity_ohm_m.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_NEAR(three.model.resistivity_ohm_m[j] / rho[j], 1, 0.01);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(three.model.thickness_m[j] / h[j], 1, 0.01);
  EXPECT_GE(three.starts_agreeing, 2);
  // Left to itself it takes no more layers than needed to fit.
  const FewLayerResult few = few_layer(p, forward, layering, start.m, {.target_rms = 0.2});
  EXPECT_EQ(few.model.resistivity_ohm_m.size(), 3u);
  EXPECT_EQ(few.reason, Reason::target_reached);
  EXPECT_EQ(few.by_layers.size(), 3u);
  EXPECT_GT(few.by_layers[0], few.by_layers[1]);
}

}  // namespace
}  // namespace tessera::inversion
