// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using namespace tessera::electromagnetics;

Medium with(std::vector<PoleResidue> poles, double eps = 2) {
  return zero_poles_as_conductivity({.eps = {eps, eps, eps}, .poles = std::move(poles)});
}

/// d(f Re eps)/df by central differences.
double derivative(const Medium& m, double f) {
  const double h = 1e-5 * f;
  return ((f + h) * permittivity(m, 0, f + h).real() - (f - h) * permittivity(m, 0, f - h).real()) /
         (2 * h);
}

TEST(MediumEnergy, OfWhatLosesNothingIsTheDerivativeOfFrequencyTimesPermittivity) {
  for (const Medium& m :
       {with(lorentz(300e12, 0, 1.5)), with(drude(400e12, 0)), with(lorentz(500e12, 1e6, 0.7)),
        with(critical_point(700e12, 1e7, 0.4, -0.9))})
    for (const double f : {100e12, 250e12, 420e12})
      EXPECT_NEAR(stored_permittivity(m, 0, f) / derivative(m, f), 1, 1e-7) << f;
}

/// eps' + 2 w eps''/g of one oscillator (Ruppin), here from its formula at any damping, the double
/// pole of critical damping and beyond included.
TEST(MediumEnergy, OfALossyOscillatorIsKineticAndPotential) {
  const double f0 = 300e12, strength = 1.5;
  for (const double g : {10e12, 300e12, 650e12, 2000e12})
    for (const double f : {50e12, 299e12, 300e12, 900e12}) {
      const double off = f0 * f0 - f * f, below = off * off + f * f * g * g;
      EXPECT_NEAR(stored_permittivity(with(lorentz(f0, g, strength)), 1, f),
                  2 + strength * f0 * f0 * (f0 * f0 + f * f) / below,
                  1e-9 * (2 + strength * f0 * f0 * (f0 * f0 + f * f) / below))
          << g << " " << f;
    }
  EXPECT_NEAR(stored_permittivity(with(drude(400e12, 80e12)), 2, 200e12),
              2 + 400. * 400 / (200. * 200 + 80. * 80), 1e-9);
  EXPECT_NEAR(stored_permittivity(with(debye(20e9, 70)), 0, 40e9), 2 + 70. / 5, 1e-9);
}

/// In a metal Re eps is below zero, in a resonance its derivative is; what is stored is not.
TEST(MediumEnergy, IsNeverLessThanThatAtInfiniteFrequency) {
  const Medium metal = with(drude(2000e12, 20e12), 1), line = with(lorentz(300e12, 5e12, 0.3), 1);
  for (double f = 20e12; f < 1000e12; f *= 1.1) {
    EXPECT_GT(stored_permittivity(metal, 0, f), 1) << f;
    EXPECT_GT(stored_permittivity(line, 0, f), 1) << f;
  }
  EXPECT_LT(permittivity(metal, 0, 500e12).real(), 0);
}

}  // namespace
