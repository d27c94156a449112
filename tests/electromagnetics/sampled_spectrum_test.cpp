// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/sampled_spectrum.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

namespace {

using namespace tessera::electromagnetics;

/// every * dt * sum over each such step of w(n dt) e^{-i 2 pi f n dt}.
std::complex<double> sum(const Waveform& w, double f, double dt, int every) {
  std::complex<double> out;
  for (long long n = 0; static_cast<double>(n) * dt < w.end_s; n += every) {
    const double t = static_cast<double>(n) * dt;
    out += every * dt * w.at(t) * std::polar(1.0, -2 * std::numbers::pi * f * t);
  }
  return out;
}

struct Pulse {
  Waveform w;
  double f;  ///< where it is looked at
};
std::vector<Pulse> pulses() {
  return {
      {gaussian_pulse(240e12, 24e12), 240e12},        {gaussian_pulse(240e12, 240e12), 200e12},
      {gaussian_pulse(240e12, 400e12), 300e12},       {gaussian_baseband(1e-15, 4.5e-15), 100e12},
      {gaussian_derivative(3, 2e-15, 9e-15), 150e12}, {ricker(240e12), 300e12}};
}

TEST(SampledSpectrum, OfAPulseIsThatOfItsFormula) {
  for (const Pulse& p : pulses()) {
    const SampledSpectrum s(p.w, 1e-17, p.w.end_s);
    double peak = 0;
    for (double f = 0; f < 1000e12; f += 0.25e12) peak = std::max(peak, std::abs(spectrum(p.w, f)));
    // Rounded up to the larger of two points, which are half of 1/(2 end) apart.
    const double here = std::abs(spectrum(p.w, p.f)) / peak;
    EXPECT_GE(s.at(p.f), here * (1 - 1e-3));
    EXPECT_LE(s.at(p.f), here * 1.3);
    EXPECT_LT(s.at(20000e12), 1e-8);
    EXPECT_EQ(s.at(1e18), 0);
  }
}

/// However fine the steps, sums over the chosen ones are those over all, within what is told; and
/// the choice is no idle one: where the spectrum falls steeply, half as many steps are too few.
/// Pulses that begin at 1e-7 of their peak (Ricker's, derivatives of high order) need many more.
TEST(SampledSpectrum, TheCoarsestSamplingFoldsNothing) {
  for (const Pulse& p : pulses())
    for (const double dt : {3e-16, 2e-17, 1e-18}) {
      const SampledSpectrum s(p.w, dt, p.w.end_s);
      const SampledSpectrum* all[] = {&s};
      const double f[] = {p.f};
      const Sampling chosen = coarsest_sampling(f, all, dt);
      const std::complex<double> each = sum(p.w, p.f, dt, 1);
      const double peak = std::abs(each) / s.at(p.f),
                   off = std::abs(sum(p.w, p.f, dt, chosen.every) - each);
      EXPECT_LE(off, chosen.folded * peak * (1 + 1e-3) + 1e-14 * std::abs(each))
          << dt << " " << chosen.every;
      EXPECT_LE(chosen.folded, 1e-8);
      const bool nyquist = chosen.every * dt * p.f > 0.4;  // hardly two a period
      if (chosen.folded < 1e-9 && chosen.every > 3 && !nyquist) {
        EXPECT_GT(std::abs(sum(p.w, p.f, dt, 2 * chosen.every) - each), 1e-9 * peak);
      }
      EXPECT_GT(chosen.every * dt * p.f, 0.005);  // 200 a period at most
    }
}

/// A pulse that begins at once holds something at every frequency: each step is wanted, or nearly
/// so.
TEST(SampledSpectrum, AnAbruptBeginningIsSeen) {
  const Waveform w = gaussian_pulse(240e12, 100e12, {.delay = 1.5});
  const SampledSpectrum s(w, 1e-17, w.end_s);
  const SampledSpectrum* all[] = {&s};
  const double f[] = {240e12};
  EXPECT_LT(coarsest_sampling(f, all, 1e-17).every, 4);
}

TEST(SampledSpectrum, EdgesAreTaken) {
  EXPECT_EQ(coarsest_sampling(std::vector<double>{1e14}, {}, 1e-17).every, 1);
  const SampledSpectrum nothing({.at = [](double) { return 0.0; }, .end_s = 1e-15}, 1e-17, 1e-15);
  EXPECT_EQ(nothing.at(1e14), 0);
  EXPECT_THROW(
      SampledSpectrum(continuous_wave(1e14, 1e-14), 1e-17, std::numeric_limits<double>::infinity()),
      tessera::Error);
}

}  // namespace
