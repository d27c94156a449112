// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/laminate.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/media_library.h"
#include "tessera/electromagnetics/medium_gain.h"
#include "tessera/electromagnetics/medium_stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

Medium medium(double eps, std::vector<PoleResidue> poles, double sigma = 0) {
  return zero_poles_as_conductivity({.name = "m",
                                     .eps = {eps, eps, eps},
                                     .sigma = {sigma, sigma, sigma},
                                     .poles = std::move(poles)});
}

/// The formula of laminate.h at one frequency.
Complex expected(const std::vector<Medium>& media, const std::vector<MediumWeight>& parts,
                 double across, double f) {
  Complex inverse = 0, mean = 0;
  for (const MediumWeight& p : parts) {
    const Complex e = permittivity(media[static_cast<std::size_t>(p.medium)], 0, f);
    inverse += p.weight / e, mean += p.weight * e;
  }
  return 1.0 / (across * inverse + (1 - across) / mean);
}

const std::vector<Medium> media{medium(1, {}),
                                medium(1, drude(2e15, 3e13)),
                                medium(9, drude(2.2e15, 2e13)),
                                medium(2.5, lorentz(5e14, 2e13, 1.5)),
                                medium(6, {}, 0.01),
                                medium(4, debye(2e10, 70), 0.5),
                                zero_poles_as_conductivity(find_medium("Au")),
                                medium(2, lorentz(3e14, 0, 1)),
                                medium(3, drude(1e15, 0))};

TEST(Laminate, IsTheFormulaAtEveryFrequency) {
  for (const std::vector<MediumWeight>& parts : {std::vector<MediumWeight>{{0, 0.25}, {1, 0.75}},
                                                 {{0, 0.5}, {2, 0.5}},
                                                 {{1, 1 / 64.0}, {3, 63 / 64.0}},
                                                 {{0, 0.3}, {4, 0.7}},
                                                 {{4, 0.6}, {5, 0.4}},
                                                 {{0, 0.5}, {6, 0.5}},
                                                 {{0, 0.2}, {1, 0.3}, {3, 0.5}},
                                                 {{2, 0.5}, {6, 0.5}},
                                                 {{0, 0.25}, {7, 0.75}},
                                                 {{0, 0.4}, {8, 0.6}},
                                                 {{4, 0.4}, {8, 0.6}}})
    for (const double across : {1 / 64.0, 0.3, 63 / 64.0, 1.0}) {
      const Medium m = laminate(media, parts, 0, across);
      for (const double f : {1e6, 1e9, 3e10, 1e12, 1.1e14, 2.9e14, 7e14, 1.3e15, 1e16}) {
        const Complex want = expected(media, parts, across, f);
        EXPECT_LT(std::abs(permittivity(m, 0, f) - want), 1e-6 * std::abs(want))
            << "media " << parts[0].medium << parts[1].medium << ", across " << across << ", " << f
            << " Hz";
      }
    }
}

TEST(Laminate, DrudeFilmAcrossIsALorentzResonanceByHand) {
  // 1/eps = w s (s + g)/(s (s + g) + wp^2) + 1 - w, so eps = 1 + w wp^2 / (s (s + g) + (1 - w)
  // wp^2): at fp sqrt(1 - w), w the metal's share.
  const double w = 0.36, fp = 2e15, g = 3e13;
  const Medium m = laminate(media, {{0, 1 - w}, {1, w}}, 0, 1);
  ASSERT_EQ(m.poles.size(), 1u);
  EXPECT_EQ(m.sigma[0], 0);
  EXPECT_NEAR(m.eps[0], 1, 1e-12);
  const PoleResidue by_hand = lorentz(fp * std::sqrt(1 - w), g, w / (1 - w))[0];
  EXPECT_LT(std::abs(m.poles[0].a - Complex(by_hand.a.real(), std::abs(by_hand.a.imag()))),
            1e-10 * std::abs(by_hand.a));
}

TEST(Laminate, SoilsKeepTheirDirectCurrent) {
  // In line: 1/sigma = sum w/sigma; a layer without conductivity blocks it.
  const Medium m = laminate({media[4], media[5]}, {{0, 0.6}, {1, 0.4}}, 0, 1);
  EXPECT_NEAR(m.sigma[0], 1 / (0.6 / 0.01 + 0.4 / 0.5), 1e-9);
  EXPECT_EQ(laminate(media, {{0, 0.3}, {4, 0.7}}, 0, 1).sigma[0], 0);
  // Along: the mean.
  EXPECT_NEAR(laminate(media, {{0, 0.3}, {4, 0.7}}, 0, 0).sigma[0], 0.7 * 0.01, 1e-10);
}

TEST(Laminate, PassiveMediaGiveStablePassiveOnes) {
  const double curl_curl = 3 * 4 / (5e-9 * 5e-9);
  for (const int other : {1, 2, 3, 4, 5, 6, 7, 8})
    for (const double share : {1 / 64.0, 0.5, 63 / 64.0})
      for (const double across : {1 / 64.0, 0.5, 1.0}) {
        const Medium m = laminate(media, {{0, 1 - share}, {other, share}}, 0, across);
        EXPECT_GE(m.eps[0], 1 - 1e-12);
        for (const PoleResidue& p : m.poles) EXPECT_LE(p.a.real(), 0);
        const double dt = 0.99 * 2 * std::sqrt(m.eps[0]) / (speed_of_light * std::sqrt(curl_curl));
        EXPECT_LT(worst_amplification(m, dt, curl_curl), 1 + kAmplificationTolerance)
            << other << " " << share << " " << across;
        for (const double f : {1e9, 1e13, 2.913e14, 5.017e14, 1.2e15, 1e17})
          EXPECT_LE(permittivity(m, 0, f).imag(), 1e-9 * std::abs(permittivity(m, 0, f)));
      }
}

TEST(Laminate, WhatHasNoAverageIsRefused) {
  Medium conductor, kerr;
  conductor.pec = true;
  kerr.chi3 = 1e-20;
  for (const Medium& bad : {conductor, kerr})
    EXPECT_THROW(laminate({media[0], bad}, {{0, 0.5}, {1, 0.5}}, 0, 1), Error);
  // At rest this one has eps = -1/2. Poles of the average: (1 - w) eps + w = 0 at s^2 + g s + w0^2
  // = 1.5 (1 - w) w0^2, growing for w < 1/3.
  const Medium amplifier = medium(1, lorentz(5e14, 1e12, -1.5));
  EXPECT_NO_THROW(laminate({media[0], amplifier}, {{0, 0.5}, {1, 0.5}}, 0, 1));
  EXPECT_THROW(laminate({media[0], amplifier}, {{0, 0.9}, {1, 0.1}}, 0, 1), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
