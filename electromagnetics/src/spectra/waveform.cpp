// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/waveform.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops/interpolate.h"
#include "tessera/data/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;
/// e^{-s^2} times a polynomial of low degree is below 1e-8 of its peak from here on.
constexpr double tail = 5.5;

void require_positive(const char* what, const char* name, double v) {
  if (!(v > 0) || !std::isfinite(v))
    throw Error(fmt::format("[{}] {} must be positive, got {}", what, name, v));
}

double gauss_transform(double f, double tau) {
  return std::sqrt(pi) * tau * std::exp(-pi * pi * f * f * tau * tau);
}

/// d^n/ds^n e^{-s^2} = (-1)^n H_n(s) e^{-s^2}, H_{n+1} = 2 s H_n - 2 n H_{n-1} (DLMF 18.9).
double hermite_pulse(int n, double s) {
  double before = 0, h = 1;
  for (int k = 0; k < n; ++k) before = std::exchange(h, 2 * s * h - 2 * k * before);
  return (n % 2 ? -h : h) * std::exp(-s * s);
}

/// Largest |d^n/ds^n e^{-s^2}|: at a zero of the next derivative, found between the points of a
/// fine grid.
double hermite_peak(int n) {
  double peak = 0;
  const int points = 4000;
  for (int k = 0; k < points; ++k) {
    double lo = tail * k / points, hi = tail * (k + 1) / points;
    const double at_lo = hermite_pulse(n + 1, lo);
    if (at_lo == 0) peak = std::max(peak, std::abs(hermite_pulse(n, lo)));
    if (at_lo * hermite_pulse(n + 1, hi) >= 0) continue;
    for (int bisection = 0; bisection < 60; ++bisection) {
      const double mid = 0.5 * (lo + hi);
      (hermite_pulse(n + 1, mid) * at_lo > 0 ? lo : hi) = mid;
    }
    peak = std::max(peak, std::abs(hermite_pulse(n, lo)));
  }
  return peak;
}

double number(const data::TextFile& file, std::size_t& at, std::size_t end) {
  double v = 0;
  const char* first = file.text.data() + at;
  if (end - at > 1 && *first == '+' && first[1] != '-') ++first;  // which from_chars does not know
  const auto [next, problem] = std::from_chars(first, file.text.data() + end, v);
  if (problem != std::errc() || !std::isfinite(v))
    throw data::InputError(file.error(433, at, "expected a number"));
  at = static_cast<std::size_t>(next - file.text.data());
  return v;
}

}  // namespace

Waveform gaussian_pulse(double f0, double bandwidth_hz, const GaussianOptions& o) {
  require_positive("gaussian_pulse", "the frequency", f0);
  require_positive("gaussian_pulse", "the bandwidth", bandwidth_hz);
  if (!(o.delay >= 0) || !std::isfinite(o.delay))
    throw Error(fmt::format("[gaussian_pulse] the delay must not be negative, got {}", o.delay));
  const double tau = 2 * std::sqrt(std::log(10.0)) / (pi * bandwidth_hz), t0 = o.delay * tau,
               phase = o.phase_rad;
  return {.at =
              [=](double t) {
                return std::exp(-(t - t0) * (t - t0) / (tau * tau)) *
                       std::cos(2 * pi * f0 * (t - t0) + phase);
              },
          .end_s = t0 + tail * tau,
          .transform =
              [=](double f) {
                return 0.5 *
                       (gauss_transform(f - f0, tau) * std::polar(1.0, phase) +
                        gauss_transform(f + f0, tau) * std::polar(1.0, -phase)) *
                       std::polar(1.0, -2 * pi * f * t0);
              }};
}

Waveform gaussian_baseband(double tau_s, double t0_s) {
  return gaussian_derivative(0, tau_s, t0_s);
}

Waveform gaussian_derivative(int n, double tau, double t0) {
  require_positive("gaussian_derivative", "tau", tau);
  if (n < 0 || n > 8)
    throw Error(fmt::format("[gaussian_derivative] the order must be 0 ... 8, got {}", n));
  const double peak = hermite_peak(n);
  return {.at = [=](double t) { return hermite_pulse(n, (t - t0) / tau) / peak; },
          .end_s = t0 + tail * tau,
          .transform =
              [=](double f) {
                Complex power = 1;  // std::pow(0, 0) is not 1 for complex numbers
                for (int k = 0; k < n; ++k) power *= Complex(0, 2 * pi * f * tau);
                return power * gauss_transform(f, tau) / peak * std::polar(1.0, -2 * pi * f * t0);
              }};
}

Waveform ricker(double peak_hz, double delay_s) {
  require_positive("ricker", "the peak frequency", peak_hz);
  return -1.0 * gaussian_derivative(2, 1 / (pi * peak_hz),
                                    delay_s < 0 ? std::numbers::sqrt2 / peak_hz : delay_s);
}

Waveform ricker_derivative(double peak_hz, double delay_s) {
  require_positive("ricker_derivative", "the peak frequency", peak_hz);
  return -1.0 * gaussian_derivative(3, 1 / (pi * peak_hz),
                                    delay_s < 0 ? std::numbers::sqrt2 / peak_hz : delay_s);
}

Waveform continuous_wave(double frequency_hz, double ramp_s, double phase_rad) {
  require_positive("continuous_wave", "the frequency", frequency_hz);
  require_positive("continuous_wave", "the ramp", ramp_s);
  return {.at =
              [=](double t) {
                const double x = std::clamp(t / ramp_s, 0.0, 1.0);
                return x * x * x * (10 - x * (15 - 6 * x)) *
                       std::cos(2 * pi * frequency_hz * t + phase_rad);
              },
          .end_s = std::numeric_limits<double>::infinity()};
}

Waveform sampled(std::vector<double> values, double dt, double start) {
  require_positive("sampled", "the time step", dt);
  if (values.size() < 3)
    throw Error(fmt::format("[sampled] needs 3 values or more, got {}", values.size()));
  const auto n = static_cast<Index>(values.size());
  auto slopes = std::make_shared<const std::vector<double>>(
      cubic_spline(arange(n, Dtype::f64), tensor(values)).slopes.to_vector());
  auto y = std::make_shared<const std::vector<double>>(std::move(values));
  return {.at =
              [=](double t) {
                const double x = (t - start) / dt;
                if (!(x >= 0) || x > double(n - 1)) return 0.0;
                const auto k = std::min<std::size_t>(static_cast<std::size_t>(x), y->size() - 2);
                const double u = x - double(k),
                             v = 1 - u;  // Hermite's cubic through two values and slopes
                return (*y)[k] * v * v * (1 + 2 * u) + (*y)[k + 1] * u * u * (1 + 2 * v) +
                       u * v * (v * (*slopes)[k] - u * (*slopes)[k + 1]);
              },
          .end_s = start + dt * double(n - 1)};
}

Waveform read_waveform(const std::filesystem::path& path) {
  const data::TextFile file = data::read_text_file(path);
  std::vector<double> time, value;
  for (std::size_t line = 1; line <= file.n_lines(); ++line) {
    std::size_t at = file.line_starts[line - 1];
    const std::size_t end = at + std::min(file.line(line).find('#'), file.line(line).size());
    const auto skip = [&] {
      while (at < end && std::string_view(" \t,").find(file.text[at]) != std::string_view::npos)
        ++at;
    };
    skip();
    if (at == end) continue;
    const std::size_t begin = at;
    time.push_back(number(file, at, end));
    skip();
    value.push_back(number(file, at, end));
    skip();
    if (at != end)
      throw data::InputError(file.error(433, at, "expected two columns, time and value"));
    if (time.back() < 0 && value.back() != 0)
      throw data::InputError(file.error(
          433, begin, "a value before 0 s, where runs begin, would be cut off", "shift the times"));
    const double first_step = time.size() > 1 ? time[1] - time[0] : 1;
    if (first_step <= 0 ||
        (time.size() > 2 && std::abs(time.back() - time[0] - first_step * double(time.size() - 1)) >
                                1e-6 * first_step * double(time.size())))
      throw data::InputError(
          file.error(433, begin, "times must rise evenly", "resample the waveform"));
  }
  if (time.size() < 3)
    throw data::InputError(file.error(433, file.text.size(), "needs 3 samples or more"));
  if (!(time.back() > 0))
    throw data::InputError(file.error(433, file.text.size(),
                                      "the waveform ends before 0 s, where runs begin",
                                      "shift the times"));
  return sampled(std::move(value), (time.back() - time[0]) / double(time.size() - 1), time[0]);
}

Waveform operator+(const Waveform& a, const Waveform& b) {
  Waveform sum{.at = [f = a.at, g = b.at](double t) { return f(t) + g(t); },
               .end_s = std::max(a.end_s, b.end_s)};
  if (a.transform && b.transform)
    sum.transform = [f = a.transform, g = b.transform](double x) { return f(x) + g(x); };
  return sum;
}

Waveform operator*(double factor, const Waveform& w) {
  Waveform out{.at = [=, f = w.at](double t) { return factor * f(t); }, .end_s = w.end_s};
  if (w.transform) out.transform = [=, g = w.transform](double f) { return factor * g(f); };
  return out;
}

Waveform delayed(const Waveform& w, double by_s) {
  Waveform out{.at = [=, f = w.at](double t) { return f(t - by_s); }, .end_s = w.end_s + by_s};
  if (w.transform)
    out.transform = [=, g = w.transform](double f) {
      return g(f) * std::polar(1.0, -2 * pi * f * by_s);
    };
  return out;
}

Complex spectrum(const Waveform& w, double frequency_hz) {
  if (!w.transform)
    throw Error(
        "[spectrum] this waveform has no transform by formula; sum over the time steps instead");
  return w.transform(frequency_hz);
}

std::vector<Complex> spectrum(const Waveform& w, std::span<const double> frequencies_hz, double dt,
                              int n_steps, double offset) {
  require_positive("spectrum", "the time step", dt);
  std::vector<Complex> sums(frequencies_hz.size());
  for (int n = 0; n < n_steps; ++n) {
    const double t = (n + offset) * dt, value = dt * w.at(t);
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += value * std::polar(1.0, -2 * pi * frequencies_hz[k] * t);
  }
  return sums;
}

}  // namespace tessera::electromagnetics
