// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/loss.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;

TEST(Loss, TangentAndConductivityAreEachOthersInverse) {
  Medium m;
  m.eps = {4.4, 4.4, 4.4};
  m.sigma[1] = conductivity_from_loss_tangent(4.4, 0.02, 2.4e9);
  EXPECT_NEAR(loss_tangent(m, 1, 2.4e9), 0.02, 1e-15);
  EXPECT_NEAR(loss_tangent(m, 1, 24e9), 0.002, 1e-16);
  EXPECT_EQ(loss_tangent(m, 0, 2.4e9), 0);
  m.mu = {2, 2, 2};
  m.sigma_m[2] = magnetic_conductivity_from_loss_tangent(2, 0.1, 1e9);
  const auto mu = permeability(m, 2, 1e9);
  EXPECT_NEAR(-mu.imag() / mu.real(), 0.1, 1e-15);
}

TEST(Loss, SkinDepthOfCopper) {
  Medium copper;
  copper.sigma = {5.8e7, 5.8e7, 5.8e7};
  // sqrt(1/(pi f mu sigma)): 66.09 um/sqrt(f in MHz), the figure of every handbook.
  EXPECT_NEAR(skin_depth(copper, 0, 1e6), 66.09e-6, 0.01e-6);
  EXPECT_NEAR(
      skin_depth(copper, 0, 1e10) / std::sqrt(1 / (pi * 1e10 * vacuum_permeability * 5.8e7)), 1,
      1e-6);
  // Surface impedance (1 + i)/(sigma depth): 26 milliohm at 10 GHz.
  const auto z = wave_impedance(copper, 0, 1e10);
  EXPECT_NEAR(z.real(), 1 / (5.8e7 * skin_depth(copper, 0, 1e10)), 1e-7);
  EXPECT_NEAR(z.imag() / z.real(), 1, 1e-6);
}

TEST(Loss, VacuumHasNoSkin) {
  EXPECT_TRUE(std::isinf(skin_depth(Medium{}, 0, 1e9)));
  EXPECT_NEAR(wave_impedance(Medium{}, 0, 1e9).real(), 376.730313, 1e-6);
}

TEST(Loss, WidebandDebyeIsFlatAndCausal) {
  for (int per_decade : {1, 2, 3}) {
    const Medium m = wideband_debye(4.2, 0.018, 1e9, 1e5, 1e13, per_decade);
    EXPECT_EQ(m.poles.size(), 8u * static_cast<unsigned>(per_decade));
    const auto eps = permittivity(m, 0, 1e9);
    EXPECT_NEAR(eps.real(), 4.2, 1e-13);
    EXPECT_NEAR(eps.imag(), -4.2 * 0.018, 1e-14);
    double least = 1, most = 0, before = 1e9;
    for (double f = 1e7; f < 1e11; f *= 1.02) {
      const double loss = -permittivity(m, 0, f).imag();
      least = std::min(least, loss), most = std::max(most, loss);
      EXPECT_LT(permittivity(m, 0, f).real(), before);
      before = permittivity(m, 0, f).real();
    }
    // Two decades from either end 1 % is missing; the ripple of the sum is +-4 e^{-pi^2 n/ln 10} of
    // the loss (Poisson's sum of sech).
    const double ripple = 2.2 * 4 * std::exp(-pi * pi * per_decade / std::log(10.0));
    EXPECT_LT(most / least - 1, ripple + 0.015) << per_decade;
    EXPECT_GT(most / least - 1, per_decade == 1 ? 0.04 : 0) << per_decade;
  }
  EXPECT_TRUE(wideband_debye(2, 0, 1e9, 1e8, 1e10).poles.empty());
}

TEST(Loss, RefusesNonsense) {
  EXPECT_THROW(conductivity_from_loss_tangent(-1, 0.1, 1e9), Error);
  EXPECT_THROW(conductivity_from_loss_tangent(2, 0.1, 0), Error);
  EXPECT_THROW(magnetic_conductivity_from_loss_tangent(2, NAN, 1e9), Error);
  EXPECT_THROW(wideband_debye(2, 0.1, 1e9, 1e10, 1e11), Error);
  EXPECT_THROW(wideband_debye(1.1, 0.5, 1e9, 1e5, 1e13), Error);  // background below 1
}

}  // namespace
}  // namespace tessera::electromagnetics
