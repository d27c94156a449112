// SPDX-License-Identifier: Apache-2.0
#include "oracle_forward.h"
#include "synthetic_sounding.h"
#include "tessera/inversion/bostick.h"
#include "tessera/inversion/depth_of_investigation.h"
#include "tessera/inversion/layering.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

TEST(Bostick, AHalfSpaceIsItself) {
  std::mt19937_64 random(1);
  const auto r =
      oracle::synthetic(oracle::log_frequencies(1e-3, 100, 11), {37.0}, {}, 0.05, 0, random);
  const BostickModel b = bostick(r);
  for (std::size_t i = 0; i < b.depth_m.size(); ++i) {
    EXPECT_NEAR(b.resistivity_ohm_m[i], 37.0, 1e-9);
    EXPECT_NEAR(b.depth_m[i], skin_depth(r.frequency_hz[i], 37.0) / std::sqrt(2.0),
                1e-9 * b.depth_m[i]);
  }
  const BostickModel odd = bostick({{1.0}, {{-1.0, 1.0}}, {0.1}});
  EXPECT_TRUE(std::isnan(odd.resistivity_ohm_m[0]));
}

TEST(Layering, SpansTheBostickDepthsAndIgnoresOneBadPoint) {
  std::mt19937_64 random(1);
  auto r = oracle::synthetic(oracle::log_frequencies(1e-3, 100, 21), {50.0}, {}, 0.05, 0, random);
  const auto good = bottoms(layering_from_data(r, 40).thickness_m);
  EXPECT_NEAR(good.front(), bostick_depth(100, r.impedance_ohm[0]) / 6, 0.5 * good.front());
  EXPECT_NEAR(good.back(), 3 * bostick_depth(1e-3, r.impedance_ohm[20]), 0.5 * good.back());
  r.impedance_ohm[20] *= 1e-4;
  const auto same = bottoms(layering_from_data(r, 40).thickness_m);
  EXPECT_DOUBLE_EQ(same.front(), good.front());
}

TEST(DepthOfInvestigation, GrowsWithPeriodAndStopsAboveAConductor) {
  const Layering layering = logarithmic_layering(20, 1e6, 80);
  const auto doi = [&](double lowest, double rho, double conductor_from) {
    std::mt19937_64 random(1);
    const auto f = oracle::log_frequencies(lowest, 100, 15);
    std::vector<double> m;
    for (std::size_t j = 0; j < layering.size(); ++j)
      m.push_back(std::log(std::pow(10, layering.log10_depth[j]) > conductor_from ? 0.01 : rho));
    const auto forward = oracle::layered_forward(f, layering.thickness_m);
    Response r;
    r.frequency_hz = f;
    r.impedance_ohm = to_complex(forward.predict(m));
    for (const auto& z : r.impedance_ohm) r.sigma_ohm.push_back(0.05 * std::abs(z));
    return depth_of_investigation(r, layering.thickness_m, forward.jacobian(m));
  };
  const auto shallow = doi(1, 100, 1e9), deep = doi(0.01, 100, 1e9),
             shielded = doi(0.01, 100, 3000);
  EXPECT_NEAR(deep.sensitivity_m / shallow.sensitivity_m, 10, 2.5);  // skin depth goes as sqrt(T)
  EXPECT_NEAR(deep.bostick_m / shallow.bostick_m, 10, 1e-6);
  EXPECT_LT(shielded.sensitivity_m, 3500);
}

}  // namespace
}  // namespace tessera::inversion
