// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/harmonic_inversion.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

Mode mode(double frequency_hz, double decay, Complex amplitude) {
  return {.frequency_hz = frequency_hz, .decay = decay, .amplitude = amplitude};
}
Mode resonance(double frequency_hz, double quality, Complex amplitude) {
  return mode(frequency_hz, pi * frequency_hz / quality, amplitude);
}

/// The sums written out, term by term: sum d exp((i 2 pi f - gamma) n dt).
std::vector<Complex> complex_signal(const std::vector<Mode>& modes, int n, double dt) {
  std::vector<Complex> c(n);
  for (int i = 0; i < n; ++i)
    for (const Mode& m : modes)
      c[i] +=
          m.amplitude * std::polar(std::exp(-m.decay * i * dt), 2 * pi * m.frequency_hz * i * dt);
  return c;
}
std::vector<double> real_signal(const std::vector<Mode>& modes, int n, double dt) {
  std::vector<double> c;
  for (const Complex& v : complex_signal(modes, n, dt)) c.push_back(2 * v.real());
  return c;
}
std::vector<double> rounded(std::vector<double> signal) {
  for (double& v : signal) v = static_cast<float>(v);
  return signal;
}

std::vector<Mode> random_modes(std::mt19937_64& random, double low, double high, int count,
                               double largest_decay) {
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<Mode> modes;
  for (int k = 0; k < count; ++k) {
    const double f = low + (high - low) * (k + 0.2 + 0.6 * u(random)) / count,
                 decay = largest_decay * u(random);
    const double size = 0.2 + u(random);
    modes.push_back(mode(f, decay, std::polar(size, 2 * pi * u(random))));
  }
  return modes;
}
std::vector<Mode> both(std::vector<Mode> a, const std::vector<Mode>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Same number of modes, and each within the tolerances: relative in f, decay/(2 pi f) absolute,
/// amplitude absolute. Of errors in the eigenvectors the values feel the square and the amplitudes
/// the first power: these get half of the digits.
void expect_modes(const std::vector<Mode>& got, const std::vector<Mode>& want, double f_tol,
                  double decay_tol, double amplitude_tol) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double f = want[k].frequency_hz;
    EXPECT_NEAR(got[k].frequency_hz / f, 1, f_tol) << "mode " << k;
    EXPECT_NEAR(got[k].decay / (2 * pi * f), want[k].decay / (2 * pi * f), decay_tol)
        << "mode " << k;
    EXPECT_LT(std::abs(got[k].amplitude - want[k].amplitude), amplitude_tol) << "mode " << k;
  }
}

TEST(HarmonicInversion, SeparatedModesAreFoundToRounding) {
  std::mt19937_64 random(3);
  const auto inside = random_modes(random, 0.05, 0.15, 14, 2e-3),
             outside = random_modes(random, 0.17, 0.47, 40, 1e-3);
  const auto signal = real_signal(both(inside, outside), 2000, 1);
  const auto found = harmonic_inversion(signal, 1, 0.05, 0.15);
  expect_modes(found, inside, 1e-12, 1e-12, 1e-6);
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_LT(std::abs(found[k].frequency_hz - inside[k].frequency_hz),
              10 * found[k].error_hz + 1e-15);
    EXPECT_LT(found[k].error_hz, 1e-8);
    EXPECT_DOUBLE_EQ(found[k].quality, pi * found[k].frequency_hz / found[k].decay);
  }
}

// Modes that have rung down long before the end leave their rounding behind; it makes no modes
// where there are none.
TEST(HarmonicInversion, EmptyBandsAreEmpty) {
  const std::vector<Mode> modes{mode(0.11, 1e-3, 0.5), mode(0.1105, 3e-3, {0.3, 0.2}),
                                mode(0.35, 2e-4, 0.1)};
  for (const int n : {300, 2000, 12000}) {
    const auto signal = real_signal(modes, n, 1);
    for (const double low : {0.02, 0.15, 0.22, 0.4}) {
      EXPECT_TRUE(harmonic_inversion(signal, 1, low, low + 0.08).empty()) << n << " " << low;
      EXPECT_TRUE(harmonic_inversion(rounded(signal), 1, low, low + 0.08, {.noise = 2e-8}).empty())
          << n << " " << low;
    }
  }
}

TEST(HarmonicInversion, ComplexSignalsHaveNegativeFrequencies) {
  const std::vector<Mode> modes{mode(-2.1e9, 3e6, {0.3, 0.4}), mode(-0.4e9, 0, 1.0),
                                mode(1.7e9, 8e7, {0.0, -2.0})};
  const auto found = harmonic_inversion(complex_signal(modes, 700, 1e-10), 1e-10, -4e9, 4e9);
  expect_modes(found, modes, 1e-12, 1e-12, 1e-9);
  for (double t : {0.0, 1e-9, 3.3e-8})
    EXPECT_LT(std::abs(signal_of(found, t) - signal_of(modes, t)), 1e-9);
}

// Band of many windows; modes fall on and near their borders, and each is found once.
TEST(HarmonicInversion, WindowsOfAWideBandMeet) {
  std::vector<Mode> modes;
  for (int k = 0; k < 90; ++k)
    modes.push_back(
        mode(0.0507 + 0.0011 * k, 1e-5 * (k % 3), std::polar(1.0 + 0.1 * (k % 7), 0.3 * k)));
  const auto found =
      harmonic_inversion(real_signal(modes, 10000, 1), 1, 0.05, 0.15, {.window_points = 60});
  expect_modes(found, modes, 1e-11, 1e-11, 1e-6);
}

// The eigenfrequencies of a metal box on the Yee grid (discrete dispersion relation): 25 x 10 x 31
// cells of 2 mm, 0.99 of the stability limit. Modes with m, n, p > 0 come twice, and two others
// lie 1.8 MHz apart: 0.2 of the Fourier resolution.
TEST(HarmonicInversion, RingDownOfACavity) {
  const double length[] = {0.05, 0.02, 0.06};
  const int cells[] = {25, 10, 31};
  const double h = 0.06 / 31,
               dt = 0.99 / (speed_of_light * std::sqrt(2 / (0.002 * 0.002) + 1 / (h * h)));
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<Mode> all;
  for (int m = 0; m < 6; ++m)
    for (int n = 0; n < 3; ++n)
      for (int p = 0; p < 7; ++p) {
        if ((m == 0) + (n == 0) + (p == 0) > 1) continue;
        double s = 0;
        const int q[] = {m, n, p};
        for (int a = 0; a < 3; ++a)
          s += std::pow(std::sin(pi * q[a] / (2 * cells[a])) / (length[a] / cells[a]), 2);
        const double size = 0.1 + u(random);
        all.push_back(mode(std::asin(speed_of_light * dt * std::sqrt(s)) / (pi * dt), 0,
                           std::polar(size, 2 * pi * u(random))));
      }
  std::sort(all.begin(), all.end(),
            [](const Mode& a, const Mode& b) { return a.frequency_hz < b.frequency_hz; });
  std::vector<Mode> in_band;
  for (const Mode& m : all)
    if (m.frequency_hz > 3.5e9 && m.frequency_hz < 10e9) in_band.push_back(m);
  ASSERT_EQ(in_band.size(), 14u);
  const auto signal = real_signal(all, 30000, dt);
  expect_modes(harmonic_inversion(signal, dt, 3.5e9, 10e9), in_band, 1e-11, 1e-11, 1e-6);
  const auto in_f32 = harmonic_inversion(rounded(signal), dt, 3.5e9, 10e9);
  expect_modes(in_f32, in_band, 1e-8, 1e-8, 1e-2);
}

TEST(HarmonicInversion, PairsFarCloserThanTheFourierResolution) {
  const int n = 4000;
  for (const double apart : {1.0, 0.3, 0.1}) {
    const std::vector<Mode> pair{mode(0.1, 0, 1.0), mode(0.1 + apart / n, 0, {0.3, 0.7})};
    // Noise sigma costs digits as sigma / apart^3 or so: one power from the gap, two from telling
    // the vectors apart.
    expect_modes(harmonic_inversion(real_signal(pair, n, 1), 1, 0.05, 0.15), pair, 1e-10, 1e-10,
                 1e-4);
    expect_modes(
        harmonic_inversion(rounded(real_signal(pair, n, 1)), 1, 0.05, 0.15, {.noise = 2e-8}), pair,
        1e-7, 1e-7, 0.05);
  }
}

TEST(HarmonicInversion, ShortRecordsAreTakenWhole) {
  const std::vector<Mode> modes{mode(-0.31, 0.02, 1.0), mode(-0.1, 0.05, {0.0, 0.8}),
                                mode(0.07, 0.1, -0.6), mode(0.2, 0.01, 0.9), mode(0.41, 0, 0.3)};
  expect_modes(harmonic_inversion(complex_signal(modes, 31, 1), 1, -0.5, 0.5), modes, 1e-11, 1e-11,
               1e-10);
  // As few samples as there are numbers to find: two for each mode, and the shift.
  expect_modes(harmonic_inversion(complex_signal(modes, 13, 1), 1, -0.5, 0.5), modes, 1e-9, 1e-9,
               1e-8);
}

// Dielectric ring: a low-loss mode among leaky ones; the record is shorter than the ring-down.
TEST(HarmonicInversion, QualityOfALeakyResonator) {
  const std::vector<Mode> modes{resonance(0.118, 73, 1.0), resonance(0.147, 333, {0.2, 0.5}),
                                resonance(0.175, 1634, 0.3)};
  const std::vector<Mode> leaky{resonance(0.05, 4, 2.0), resonance(0.16, 5, 1.0),
                                resonance(0.25, 6, {1.0, 1.0})};
  const double dt =
      0.0125;  // 457 samples in a period: finely sampled, as a time-stepping scheme must
  const auto signal = real_signal(both(modes, leaky), 24000, dt);
  auto found =
      harmonic_inversion(rounded(signal), dt, 0.11, 0.2, {.noise = 1e-7, .min_quality = 20});
  ASSERT_EQ(found.size(), 3u);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(found[k].frequency_hz / modes[k].frequency_hz, 1, 1e-6);
    EXPECT_NEAR(found[k].quality / (pi * modes[k].frequency_hz / modes[k].decay), 1, 1e-4);
  }
}

// What rises within a period is no resonance either; what hardly rises, by rounding, is one.
TEST(HarmonicInversion, ALeastQualityHoldsForModesThatGrow) {
  const std::vector<Mode> modes{resonance(0.1, 100, 1.0), resonance(0.2, -1e9, 0.5)};
  const auto signal = real_signal(both(modes, {resonance(0.15, -4, 1e-3)}), 100, 1);
  EXPECT_EQ(harmonic_inversion(signal, 1, 0.05, 0.25).size(), 3u);
  const auto found = harmonic_inversion(signal, 1, 0.05, 0.25, {.min_quality = 20});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].frequency_hz, 0.1, 1e-6);
  EXPECT_NEAR(found[1].frequency_hz, 0.2, 1e-6);
}

// The Cramer-Rao bound of one undamped tone A cos(w t + p) in white noise: std(w) >= sqrt(24) sigma
// / (A N^1.5). The box filter is not the best estimator; within a factor 6 in 10 draws shows that
// no digits are lost elsewhere.
TEST(HarmonicInversion, NoiseEntersAsItMust) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const int n = 2000;
  const double sigma = 0.02;
  const std::vector<Mode> tone{mode(0.0873, 0, {0.5, 0.0})};
  const double bound_hz = std::sqrt(24.0) * sigma / (1.0 * std::pow(n, 1.5)) / (2 * pi);
  double square = 0;
  for (int draw = 0; draw < 10; ++draw) {
    auto signal = real_signal(tone, n, 1);
    for (double& v : signal) v += sigma * normal(random);
    const auto found =
        harmonic_inversion(signal, 1, 0.08, 0.095, {.noise = sigma, .min_amplitude = 0.05});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].frequency_hz, 0.0873, 6 * bound_hz);
    square += std::pow(found[0].frequency_hz - 0.0873, 2) / 10;
  }
  EXPECT_LT(std::sqrt(square), 3 * bound_hz);
  EXPECT_GT(std::sqrt(square), 0.5 * bound_hz) << "better than any estimator can be";
}

// A signal of two modes as a function of their frequencies, decay rates and amplitudes: found
// again, the derivatives of the frequencies in these parameters are 1 and 0.
TEST(Resonances, DerivativesInTheSamplesAreThoseOfTheModes) {
  const int n = 1500;
  const Tensor t = arange(n, Dtype::f64);
  const auto signal = [&](const Tensor& p) {  // (f, gamma, log |d|) of each
    Tensor sum = zeros({n});
    for (Index k = 0; k < 2; ++k) {
      const auto at = [&](Index j) { return slice(p, 0, 3 * k + j, 3 * k + j + 1); };
      sum = sum + exp(at(2) - at(1) * t) * cos(2 * pi * at(0) * t + 0.4 * double(k));
    }
    return sum;
  };
  const Tensor p = tensor<double>({0.11, 1e-3, 0.1, 0.1105, 3e-3, -0.3});
  const auto frequency = [&](const Tensor& x) {
    return resonances(signal(x), 1, 0.08, 0.15).frequency_hz;
  };
  const auto decay = [&](const Tensor& x) { return resonances(signal(x), 1, 0.08, 0.15).decay; };
  EXPECT_NEAR(frequency(p).to_vector()[1], 0.1105, 1e-12);
  EXPECT_NEAR(decay(p).to_vector()[0], 1e-3, 1e-12);
  for (const bool forward : {false, true}) {
    const auto df = (forward ? jacfwd(frequency)(p) : jacrev(frequency)(p)).to_vector();
    const auto dg = (forward ? jacfwd(decay)(p) : jacrev(decay)(p)).to_vector();
    for (int mode = 0; mode < 2; ++mode)
      for (int k = 0; k < 6; ++k) {
        EXPECT_NEAR(df[6 * mode + k], k == 3 * mode ? 1 : 0, 1e-7) << mode << " " << k;
        EXPECT_NEAR(dg[6 * mode + k], k == 3 * mode + 1 ? 1 : 0, 1e-7) << mode << " " << k;
      }
  }
  EXPECT_THROW(hessian([&](const Tensor& x) { return sum(frequency(x)); })(p), Error);
  EXPECT_THROW(resonances(signal(p), 1, 0.3, 0.4), Error);
  EXPECT_THROW(resonances(zeros({3, 4}), 1, 0.3, 0.4), Error);
}

// Against differences along any direction, in a signal whose noise is taken out of the pencil.
TEST(Resonances, DerivativesAgreeWithDifferences) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  const std::vector<Mode> modes{mode(0.11, 1e-3, 1.0), mode(0.13, 2e-3, {0.2, 0.7})};
  const auto base = complex_signal(modes, 600, 1);
  std::vector<Complex> along;
  for (std::size_t k = 0; k < base.size(); ++k) {
    const double re = normal(random), im = normal(random);
    along.push_back({re, im});
  }
  const Tensor c = tensor(base), v = tensor(along);
  const HarmonicInversionOptions options{.noise = 1e-3};
  const auto f = [&](const Tensor& x) {
    return resonances(x, 1, 0.08, 0.15, options).frequency_hz;
  };
  const auto derivative = jvp(f, c, v).second.to_vector();
  const double h = 1e-5;
  const auto plus = f(c + h * v).to_vector(), minus = f(c - h * v).to_vector();
  ASSERT_EQ(plus.size(), 2u);
  for (int k = 0; k < 2; ++k) EXPECT_NEAR((plus[k] - minus[k]) / (2 * h) / derivative[k], 1, 1e-4);
}

TEST(HarmonicInversion, RefusesWhatIsNoRecord) {
  const std::vector<double> signal(100, 1.0), zero(100, 0.0);
  EXPECT_TRUE(harmonic_inversion(zero, 1, 0.1, 0.2).empty());
  EXPECT_THROW(harmonic_inversion(std::vector<double>(7, 1.0), 1, 0.1, 0.2), Error);
  EXPECT_THROW(harmonic_inversion(signal, 0, 0.1, 0.2), Error);
  EXPECT_THROW(harmonic_inversion(signal, 1, 0.2, 0.1), Error);
  EXPECT_THROW(harmonic_inversion(signal, 1, -0.2, 0.1), Error);
  EXPECT_THROW(harmonic_inversion(signal, 1, 0.1, 0.6), Error);
  std::vector<double> broken = signal;
  broken[50] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(harmonic_inversion(broken, 1, 0.1, 0.2), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
