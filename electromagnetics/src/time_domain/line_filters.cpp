// SPDX-License-Identifier: Apache-2.0
#include "time_domain/line_filters.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/bessel.h"
#include "tessera/autodiff/ops/fft.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

namespace tessera::electromagnetics::time_domain {
namespace {

using std::numbers::pi;
constexpr double attenuation_db = 200;

/// J. F. Kaiser's low-pass filter, -200 dB beyond the band (A. V. Oppenheim, R. W. Schafer,
/// Discrete-Time Signal Processing, 7.5.3): a[n] = sin(m n)/(pi n) I0(beta sqrt(1 -
/// (n/M)^2))/I0(beta), |n| <= M, with m the middle of the transition.
std::vector<double> low_pass(const Band& band) {
  const double beta = 0.1102 * (attenuation_db - 8.7), middle = (band.pass + band.stop) / 2;
  const int half =
      static_cast<int>(std::ceil((attenuation_db - 7.95) / (2.285 * (band.stop - band.pass)) / 2));
  std::vector<double> arguments;
  for (int n = 0; n <= half; ++n)
    arguments.push_back(beta * std::sqrt(1 - std::pow(n / double(half), 2)));
  std::vector<double> a = bessel_i(0, tensor(arguments)).to_vector();
  const double scale = a[0];
  for (int n = 0; n <= half; ++n)
    a[static_cast<std::size_t>(n)] *=
        (n == 0 ? middle / pi : std::sin(middle * n) / (pi * n)) / scale;
  return a;
}

double response(const std::vector<double>& a, double angle) {
  double sum = a[0];
  for (std::size_t n = 1; n < a.size(); ++n)
    sum += 2 * a[n] * std::cos(angle * static_cast<double>(n));
  return sum;
}

/// The taps of a response [n] that goes around at its ends, without those below 1e-12 before and
/// after.
Filter filter_of(const double* row, Index n, std::int64_t delay) {
  const auto at = [&](Index j) { return row[(j + n) % n]; };
  Index from = -n / 2, to = n / 2;
  while (from < to && std::abs(at(from)) < 1e-12) ++from;
  while (to > from && std::abs(at(to - 1)) < 1e-12) --to;
  Filter f{.lead = delay + from, .taps = {}};
  for (Index j = from; j < to; ++j) f.taps.push_back(at(j));
  return f;
}

int axis_of_travel(const GridWave& wave) { return wave.u[0] != 0 ? 0 : wave.u[1] != 0 ? 1 : 2; }

}  // namespace

double GridWave::largest_wavenumber() const {
  double longest = 0;
  for (int d = 0; d < 3; ++d)
    longest = std::max(longest, std::abs(u[d]) * (u[d] == 0 ? 0 : cell[d]));
  return pi / longest;
}

double GridWave::largest_angle() const {
  const double k = largest_wavenumber();
  double sum = 0;
  for (int d = 0; d < 3; ++d)
    if (u[d] != 0) sum += std::pow(2 / cell[d] * std::sin(k * u[d] * cell[d] / 2), 2);
  return 2 * std::asin(std::min(1.0, speed_of_light * dt / 2 * std::sqrt(sum / (eps * mu))));
}

double GridWave::wavenumber(double angle, double guess) const {
  const double want = eps * mu * std::pow(2 / (speed_of_light * dt) * std::sin(angle / 2), 2);
  double low = 0, high = largest_wavenumber(), k = guess;
  for (int iteration = 0; iteration < 60;
       ++iteration) {  // Newton's steps, halving where they leave the bracket
    double f = -want, derivative = 0;
    for (int d = 0; d < 3; ++d) {
      if (u[d] == 0) continue;
      f += std::pow(2 / cell[d] * std::sin(k * u[d] * cell[d] / 2), 2);
      derivative += 2 * u[d] / cell[d] * std::sin(k * u[d] * cell[d]);
    }
    (f > 0 ? high : low) = k;
    double next = k - f / derivative;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::abs(next - k) <= 1e-15 * high) return next;
    k = next;
  }
  return k;
}

std::array<double, 6> GridWave::components(double angle, double k) const {
  // K / (Omega / c), at w = 0 its limit sqrt(eps mu) u.
  const double omega = 2 / (speed_of_light * dt) * std::sin(angle / 2);
  Point ratio;
  for (int d = 0; d < 3; ++d)
    ratio[d] = u[d] == 0    ? 0
               : omega == 0 ? std::sqrt(eps * mu) * u[d]
                            : 2 / cell[d] * std::sin(k * u[d] * cell[d] / 2) / omega;
  const auto dot = [](const Point& a, const Point& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  Point e;
  const double along = dot(ratio, p) / dot(ratio, ratio);
  for (int d = 0; d < 3; ++d) e[d] = p[d] - along * ratio[d];
  const double length = std::sqrt(dot(e, e));
  for (double& x : e) x /= length;
  std::array<double, 6> out{e[0], e[1], e[2]};
  for (int d = 0; d < 3; ++d)
    out[3 + d] = (ratio[(d + 1) % 3] * e[(d + 2) % 3] - ratio[(d + 2) % 3] * e[(d + 1) % 3]) / mu;
  return out;
}

Band band_of(const GridWave& wave, const Waveform& waveform) {
  const double top = wave.largest_angle(), half = top / 2;
  if (!std::isfinite(waveform.end_s)) return {half, top};
  const auto samples = static_cast<std::int64_t>(waveform.end_s / wave.dt) + 2;
  std::vector<double> w;
  for (std::int64_t n = 0; n < samples; ++n)
    w.push_back(waveform.at(static_cast<double>(n) * wave.dt));
  const auto size = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(2 * samples)));
  const std::vector<double> spectrum = abs(rfft(tensor(w), size)).to_vector();
  const double peak = *std::max_element(spectrum.begin(), spectrum.end());
  double pass = 0, beyond = 0;
  for (std::size_t q = 0; q < spectrum.size(); ++q) {
    const double angle = 2 * pi * static_cast<double>(q) / static_cast<double>(size);
    if (spectrum[q] > 1e-9 * peak) pass = angle;
    if (angle > half) beyond = std::max(beyond, spectrum[q] / peak);
  }
  if (!(beyond <= 1e-3))
    throw Error(
        fmt::format("[plane_wave] the waveform's spectrum is {:.1e} of its peak above {:.3e} Hz, "
                    "half of the highest frequency that travels in this "
                    "direction on the grid: take smaller cells or a slower waveform",
                    beyond, half / (2 * pi * wave.dt)));
  return {std::clamp(pass, 0.1 * top, half), top};
}

std::vector<Filter> line_filters(const GridWave& wave, const Band& band, int component,
                                 const std::vector<double>& distances) {
  const std::vector<double> a = low_pass(band);
  const double index = std::sqrt(wave.eps * wave.mu),
               last = *std::max_element(distances.begin(), distances.end());
  const auto delay = [&](double d) { return std::llround(d * index / (speed_of_light * wave.dt)); };
  // What the slowest wave that passes (1e-9) lags behind, in steps: the group delay d k'(w) at the
  // end of the line.
  double lag = 0;
  for (int s = 1; s < 200; ++s) {
    const double angle = band.stop * s / 200, h = 1e-4 * band.stop;
    if (std::abs(response(a, angle)) < 1e-9) break;
    const double guess = angle * index / (speed_of_light * wave.dt);
    lag = std::max(
        lag,
        last * (wave.wavenumber(angle + h, guess) - wave.wavenumber(angle - h, guess)) / (2 * h) -
            static_cast<double>(delay(last)));
  }
  const auto n = static_cast<Index>(
      std::bit_ceil(static_cast<std::uint64_t>(3 * static_cast<double>(a.size()) + 1.5 * lag)));

  std::vector<double> k(static_cast<std::size_t>(n / 2 + 1)), gain(k.size());
  double largest = 0;
  for (std::size_t q = 0; q < k.size(); ++q) {
    const double angle = 2 * pi * static_cast<double>(q) / static_cast<double>(n);
    if (angle >= band.stop) break;
    k[q] = wave.wavenumber(
        angle, q < 2 ? angle * index / (speed_of_light * wave.dt) : 2 * k[q - 1] - k[q - 2]);
    const double share = wave.components(angle, k[q])[static_cast<std::size_t>(component)];
    gain[q] = response(a, angle) * share;
    largest = std::max(largest, std::abs(share));
  }
  if (largest < 1e-14) return {};

  std::vector<Filter> out;
  const double half_step = component < 3 ? 0.0 : 0.5;
  constexpr std::size_t block = 64;
  for (std::size_t begin = 0; begin < distances.size(); begin += block) {
    const std::size_t count = std::min(block, distances.size() - begin);
    std::vector<c128> spectra(count * k.size());
    for (std::size_t m = 0; m < count; ++m) {
      const double d = distances[begin + m], shift = static_cast<double>(delay(d)) + half_step;
      for (std::size_t q = 0; q < k.size() && (q == 0 || k[q] > 0); ++q)
        spectra[m * k.size() + q] =
            std::polar(
                1.0, 2 * pi * static_cast<double>(q) / static_cast<double>(n) * shift - k[q] * d) *
            gain[q];
    }
    const std::vector<double> g =
        irfft(tensor(spectra, {static_cast<Index>(count), static_cast<Index>(k.size())}), n)
            .to_vector();
    for (std::size_t m = 0; m < count; ++m)
      out.push_back(
          filter_of(g.data() + m * static_cast<std::size_t>(n), n, delay(distances[begin + m])));
  }
  return out;
}

std::vector<Filter> uneven_filters(const GridWave& wave, const Band& band, int component,
                                   const UnevenLine& line) {
  const std::vector<double> a = low_pass(band);
  const std::size_t cells = line.lengths.size(), points = component < 3 ? cells + 1 : cells;
  const double index = std::sqrt(wave.eps * wave.mu);
  double length = 0;
  for (const double x : line.lengths) length += x;
  // Room for the way through and back, at the group velocity of the slowest wave that passes (1e-9)
  // in the longest cells.
  double slowest = length * index / (speed_of_light * wave.dt);
  for (int s = 1; s < 200; ++s) {
    const double angle = band.stop * s / 200, h = 1e-4 * band.stop,
                 guess = angle * index / (speed_of_light * wave.dt);
    if (std::abs(response(a, angle)) < 1e-9) break;
    slowest = std::max(
        slowest,
        length * (wave.wavenumber(angle + h, guess) - wave.wavenumber(angle - h, guess)) / (2 * h));
  }
  const auto n = static_cast<Index>(
      std::bit_ceil(static_cast<std::uint64_t>(3 * static_cast<double>(a.size()) + 6 * slowest)));
  const double half_step = component < 3 ? 0.0 : 0.5;
  std::vector<double> along{0};  // from the corner, as the delays go
  for (const double x : line.lengths) along.push_back(along.back() + x);
  const double start = along[line.corner];
  for (double& x : along) x -= start;
  const auto delay = [&](std::size_t m) {
    return std::llround((component < 3 ? along[m] : (along[m] + along[m + 1]) / 2) * index /
                        (speed_of_light * wave.dt));
  };

  const auto bins = static_cast<std::size_t>(n / 2 + 1);
  std::vector<c128> spectra(points * bins);
  double largest = 0;
  std::vector<c128> f(cells + 1), g(cells);
  for (std::size_t q = 0; q < bins; ++q) {
    const double angle = 2 * pi * static_cast<double>(q) / static_cast<double>(n);
    if (angle >= band.stop) break;
    const double omega = 2 / (speed_of_light * wave.dt) * std::sin(angle / 2),
                 big_k = index * omega;
    const c128 step = c128(0, big_k);
    // From the last node back: f_i = f_{i+1} + i K D_i g_i, g_{i-1} = g_i + i K D*_i f_i.
    const auto turn = [&](double cell) {
      return std::polar(1.0, -std::asin(std::min(1.0, big_k * cell / 2)));
    };  // over half a cell
    f[cells] = 1;
    g[cells - 1] = std::conj(turn(line.lengths[cells - 1]));
    for (std::size_t i = cells; i-- > 0;) {
      f[i] = f[i + 1] + step * line.lengths[i] * g[i];
      if (i > 0) g[i - 1] = g[i] + step * ((line.lengths[i] + line.lengths[i - 1]) / 2) * f[i];
    }
    // What comes in: f = A + B at the corner, g = A t - B / t behind it, with t the turn over half
    // of the cell there.
    const c128 t = turn(line.lengths[line.corner]),
               in = (f[line.corner] + t * g[line.corner]) / (1.0 + t * t);
    const double share = wave.components(
        angle, angle == 0
                   ? 0
                   : 2 / wave.cell[axis_of_travel(wave)] *
                         std::asin(std::min(1.0, big_k * wave.cell[axis_of_travel(wave)] /
                                                     2)))[static_cast<std::size_t>(component)];
    largest = std::max(largest, std::abs(share));
    for (std::size_t m = 0; m < points; ++m)
      spectra[m * bins + q] = (component < 3 ? f[m] : g[m]) / in * response(a, angle) * share *
                              std::polar(1.0, angle * (static_cast<double>(delay(m)) + half_step));
  }
  if (largest < 1e-14) return {};
  std::vector<Filter> out;
  for (std::size_t m = 0; m < points; ++m) {
    const std::vector<double> row =
        irfft(tensor(
                  std::vector<c128>(spectra.begin() + static_cast<std::ptrdiff_t>(m * bins),
                                    spectra.begin() + static_cast<std::ptrdiff_t>((m + 1) * bins))),
              n)
            .to_vector();
    out.push_back(filter_of(row.data(), n, delay(m)));
  }
  return out;
}

}  // namespace tessera::electromagnetics::time_domain
