// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/waveform.h"

#include "temp_folder.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/diagnostic.h"
#include "tessera/electromagnetics/pulse_basis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// Formula against the sum over steps: for a smooth pulse that has died out at both ends, the sum
/// is exact to rounding.
void expect_transform(const Waveform& w, double first_s, double dt, const std::vector<double>& f,
                      double tolerance) {
  const int n = static_cast<int>(std::ceil((w.end_s - first_s) / dt));
  const Waveform moved = delayed(w, -first_s);
  const auto sums = spectrum(moved, f, dt, n);
  double largest = 0;
  for (double x : f) largest = std::max(largest, std::abs(spectrum(w, x)));
  for (std::size_t k = 0; k < f.size(); ++k)
    EXPECT_LT(std::abs(sums[k] - spectrum(w, f[k]) * std::polar(1.0, 2 * pi * f[k] * first_s)),
              tolerance * largest)
        << f[k];
}

TEST(Waveform, TransformsAreThoseOfTheSignals) {
  const std::vector<double> f{0, 0.3e9, 1e9, 1.4e9, 2.5e9};
  const Waveform pulse = gaussian_pulse(1e9, 1e9);
  expect_transform(pulse, -2e-9, 1e-11, f, 1e-11);
  expect_transform(gaussian_pulse(1e9, 1e9, {.delay = 6, .phase_rad = 0.7}), 0, 1e-11, f, 1e-11);
  for (int n = 0; n <= 8; ++n)
    expect_transform(gaussian_derivative(n, 0.3e-9, 2e-9), 0, 1e-11, f, 1e-8);
  expect_transform(ricker(1e9), -1e-9, 1e-11, f, 1e-11);
  expect_transform(ricker_derivative(1e9, 3e-9), 0, 1e-11, f, 1e-8);
  expect_transform(pulse + 0.5 * delayed(ricker(0.8e9), 1e-9), -2e-9, 1e-11, f, 1e-11);
}

TEST(Waveform, BandwidthAndCutoffMeanWhatTheySay) {
  const Waveform w = gaussian_pulse(10e9, 4e9);
  const double peak = std::abs(spectrum(w, 10e9));
  EXPECT_NEAR(std::abs(spectrum(w, 12e9)) / peak, 0.1, 1e-6);  // the image at -10 GHz is below that
  EXPECT_NEAR(std::abs(spectrum(w, 8e9)) / peak, 0.1, 1e-6);
  EXPECT_LT(std::abs(spectrum(w, 0)), 1e-14 * peak) << "an odd carrier leaves no charge behind";
  const Waveform base = gaussian_baseband(0.5 / 20e9, 4.5 * 0.5 / 20e9);
  EXPECT_NEAR(std::abs(spectrum(base, 20e9) / spectrum(base, 0)), std::exp(-pi * pi / 4), 1e-12);
  EXPECT_NEAR(base.at(4.5 * 0.5 / 20e9), 1, 1e-15);
  // The spectrum of a Ricker pulse peaks where it is told to.
  const Waveform r = ricker(1.5e9);
  EXPECT_GT(std::abs(spectrum(r, 1.5e9)), std::abs(spectrum(r, 1.48e9)));
  EXPECT_GT(std::abs(spectrum(r, 1.5e9)), std::abs(spectrum(r, 1.52e9)));
  EXPECT_NEAR(r.at(std::numbers::sqrt2 / 1.5e9), 1, 1e-15);
}

TEST(Waveform, DerivativesAreDerivatives) {
  const double tau = 0.3e-9, t0 = 2e-9, h = 1e-14;
  for (int n = 0; n < 8; ++n) {
    const Waveform w = gaussian_derivative(n, tau, t0), next = gaussian_derivative(n + 1, tau, t0);
    double largest = 0, ratio = 0;
    for (double t = 0.5e-9; t < 3.5e-9; t += 1e-12) {
      largest = std::max(largest, std::abs(w.at(t)));
      if (std::abs(next.at(t)) < 0.3) continue;
      const double here = (w.at(t + h) - w.at(t - h)) / (2 * h) / next.at(t);
      if (ratio == 0) ratio = here;
      EXPECT_NEAR(here / ratio, 1, 1e-7);
    }
    EXPECT_GT(ratio, 0);
    EXPECT_NEAR(largest, 1, 1e-4) << n;
    EXPECT_LE(largest, 1 + 1e-12);
  }
}

TEST(Waveform, EndsAreEnds) {
  for (const Waveform& w : {gaussian_pulse(1e9, 1e9), gaussian_baseband(1e-9, 5e-9), ricker(1e9),
                            ricker_derivative(1e9), gaussian_derivative(8, 1e-9, 6e-9)})
    for (double t = w.end_s; t < 2 * w.end_s; t += w.end_s / 100)
      EXPECT_LT(std::abs(w.at(t)), 1e-8);
  const Waveform cw = continuous_wave(1e9, 5e-9, 0);
  EXPECT_TRUE(std::isinf(cw.end_s));
  EXPECT_EQ(cw.at(-1e-9), 0);
  EXPECT_NEAR(cw.at(2.5e-9), 0.5 * std::cos(2 * pi * 2.5), 1e-12);
  EXPECT_NEAR(cw.at(20.25e-9), 0, 1e-9);
  EXPECT_NEAR(cw.at(21e-9), 1, 1e-9);
  EXPECT_THROW(spectrum(cw, 1e9), Error);
  EXPECT_THROW(gaussian_pulse(0, 1e9), Error);
  EXPECT_THROW(gaussian_pulse(1e9, 1e9, {.delay = -1}), Error);
  EXPECT_EQ(gaussian_pulse(1e9, 1e9, {.delay = 0, .phase_rad = 0}).at(0), 1);  // begins at its peak
  EXPECT_THROW(gaussian_derivative(9, 1, 1), Error);
  EXPECT_THROW(continuous_wave(1e9, 0), Error);
}

TEST(Waveform, SamplesFromMemoryAndFile) {
  const Waveform w = gaussian_pulse(1e9, 1e9);
  const auto error = [&](int n) {
    std::vector<double> values;
    for (int k = 0; k < n; ++k) values.push_back(w.at(w.end_s * k / (n - 1)));
    const Waveform s = sampled(values, w.end_s / (n - 1));
    double e = 0;
    for (double t = 0; t <= w.end_s; t += 1.234e-12) e = std::max(e, std::abs(s.at(t) - w.at(t)));
    return e;
  };
  EXPECT_GT(error(101) / error(201), 12) << "cubic splines are of fourth order";
  EXPECT_LT(error(401), 1e-5);

  const tessera::testing::TempFolder folder;
  std::ofstream(folder / "pulse.txt")
      << "# time value\n0.0 1.0\n0.5e-9 2.0 # peak\n\n1e-9, -1.0\n1.5e-9\t0\n";
  const Waveform s = read_waveform(folder / "pulse.txt");
  EXPECT_NEAR(s.at(0.5e-9), 2, 1e-12);
  EXPECT_NEAR(s.at(1e-9), -1, 1e-12);
  EXPECT_EQ(s.at(-1e-12), 0);
  EXPECT_EQ(s.at(1.6e-9), 0);
  EXPECT_NEAR(s.end_s, 1.5e-9, 1e-20);
  std::ofstream(folder / "early.txt") << "-1e-9 0\n0 1\n1e-9 2\n2e-9 0\n";
  EXPECT_NEAR(read_waveform(folder / "early.txt").at(1e-9), 2, 1e-12);
  std::ofstream(folder / "signed.txt") << "+0.0e+00,+1.0\n+1e-9,+.5\n+2e-9,-2.0e+00\n";
  EXPECT_NEAR(read_waveform(folder / "signed.txt").at(1e-9), 0.5, 1e-12);
  // Values before 0 s, and all of them there.
  for (const char* bad :
       {"0 +-1\n1 2\n2 3\n", "-1 1\n0 2\n1 3\n", "-2 0\n-1 0\n0 0\n", "0 1\n1 2\n3 4\n",
        "0 1\n1 2\n", "0 1\n1 x\n2 3\n", "0 1\n0 2\n0 3\n", "0 1 2\n1 2 3\n2 3 4\n"}) {
    std::ofstream(folder / "bad.txt") << bad;
    EXPECT_THROW(read_waveform(folder / "bad.txt"), data::InputError) << bad;
  }
  EXPECT_THROW(sampled({1.0, 2.0}, 1), Error);
}

TEST(PulseBasis, WithoutMeanItSumsToZeroAndKeepsItsSpectra) {
  const std::vector<double> f{20e9, 26e9};
  const int n_steps = 300;
  const double dt = 1.7e-12;
  const auto p = pulse_basis(f, dt, n_steps, true).signals.to_vector();
  ASSERT_EQ(p.size(), 4u * n_steps);
  for (std::size_t j = 0; j < 4; ++j) {
    double mean = 0;
    Complex at_first = 0;
    for (int n = 0; n < n_steps; ++n) {
      mean += p[j * n_steps + n];
      at_first += p[j * n_steps + n] * std::polar(1.0, -2 * pi * f[0] * (n * dt));
    }
    EXPECT_NEAR(mean, 0, 1e-12);
    EXPECT_LT(std::abs(at_first - (j == 0   ? Complex(1, 0)
                                   : j == 2 ? Complex(0, 1)
                                            : Complex(0, 0))),
              1e-11);
  }
}

TEST(PulseBasis, SumsAreAsPrescribed) {
  const double dt = 2e-17;
  const int n_steps = 6000;
  std::vector<double> f;
  for (int k = 0; k < 12; ++k)
    f.push_back(190e12 + 9e12 * k);  // 1.1 of the Fourier resolution apart
  const PulseBasis basis = pulse_basis(f, dt, n_steps);
  const auto p = basis.signals.to_vector();
  for (std::size_t j = 0; j < 2 * f.size(); ++j)
    for (std::size_t k = 0; k < f.size(); ++k) {
      Complex sum = 0;
      for (int n = 0; n < n_steps; ++n)
        sum += p[j * n_steps + n] * std::polar(1.0, -2 * pi * f[k] * (n * dt));
      const Complex want = j == k              ? Complex(1, 0)
                           : j == k + f.size() ? Complex(0, 1)
                                               : Complex(0, 0);
      EXPECT_LT(std::abs(sum - want), 1e-9) << j << " " << k;
    }
  EXPECT_GE(basis.condition, 1);
  // It begins and ends smoothly, and far from the band there is next to nothing.
  for (std::size_t j = 0; j < 2 * f.size(); ++j) {
    double largest = 0;
    for (int n = 0; n < n_steps; ++n) largest = std::max(largest, std::abs(p[j * n_steps + n]));
    EXPECT_LT(std::abs(p[j * n_steps]) + std::abs(p[(j + 1) * n_steps - 1]), 1e-8 * largest);
    Complex far = 0;
    for (int n = 0; n < n_steps; ++n)
      far += p[j * n_steps + n] * std::polar(1.0, -2 * pi * 600e12 * (n * dt));
    EXPECT_LT(std::abs(far), 1e-4);
  }
}

TEST(PulseBasis, OfTheAllowedSignalsItIsTheShortest) {
  const std::vector<double> f{0.08, 0.13, 0.2};
  const int n = 120;
  const auto p = pulse_basis(f, 1, n).signals.to_vector();
  // A change that leaves the sums alone is orthogonal to p in the norm 1/g: p/g is a combination of
  // the rows of F.
  std::vector<double> rows;
  for (double x : f)
    for (int i = 0; i < n; ++i) rows.push_back(std::cos(2 * pi * x * i));
  for (double x : f)
    for (int i = 0; i < n; ++i) rows.push_back(std::sin(2 * pi * x * i));
  std::vector<double> scaled(p.begin(), p.begin() + n);
  for (int i = 0; i < n; ++i) scaled[i] /= std::pow(std::sin(pi * (i + 0.5) / n), 4);
  const Tensor a = transpose(tensor(rows, {6, n})), b = tensor(scaled, {n, 1});
  const Tensor rest = b - matmul(a, lstsq(a, b));
  EXPECT_LT(norm(rest).item() / norm(b).item(), 1e-9);
}

TEST(PulseBasis, TooCloseIsAnErrorThatSaysHowManySteps) {
  std::vector<double> close;
  for (int k = 0; k < 8; ++k) close.push_back(0.1 + 0.0003 * k);
  EXPECT_THROW(pulse_basis(close, 1, 300), Error);
  try {
    pulse_basis(close, 1, 300);
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("6667 steps"), std::string::npos) << e.what();
  }
  EXPECT_LT(pulse_basis(close, 1, 6667).condition, 10) << "what the message advises works";
  EXPECT_THROW(pulse_basis(std::vector<double>{0.0, 0.1}, 1, 300), Error);
  EXPECT_THROW(pulse_basis(std::vector<double>{0.5}, 1, 300), Error);
  EXPECT_THROW(pulse_basis(std::vector<double>{0.1, 0.2}, 1, 3), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
