// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/harmonic_inversion.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"
#include "tessera/autodiff/ops/matrix_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// The sums over the signal that every window needs, on the whole grid of L = M + 1 points.
class Transforms {
 public:
  /// `shift` is P; the record gives M + 1 = (N + 1)/2 - P points.
  Transforms(std::span<const Complex> signal, Index shift)
      : shift_(shift), points_((static_cast<Index>(signal.size()) + 1) / 2 - shift) {
    const Index m = points_ - 1;
    const Index start[] = {0, 1, shift, 2 * shift};
    for (int p = 0; p < 4; ++p) {
      const Complex* c = signal.data() + start[p];
      std::vector<Complex> difference(points_), diagonal(points_);
      for (Index n = 0; n < m; ++n) {
        difference[n] = c[n] - c[n + points_];
        diagonal[n] = double(n + 1) * c[n] + double(m - n) * c[n + points_];
      }
      difference[m] = c[m];
      diagonal[m] = double(points_) * c[m];
      edge_[p] = fft(tensor(difference)).to_vector<Complex>();
      diagonal_[p] = fft(tensor(diagonal)).to_vector<Complex>();
      for (Index j = 0; j < points_; ++j)
        edge_[p][j] *= std::polar(1.0, -2 * pi * double(j) / double(points_));
    }
    filtered_ = fft(tensor(std::vector<Complex>(signal.begin(), signal.begin() + points_)))
                    .to_vector<Complex>();
  }

  Index points() const { return points_; }
  Index shift() const { return shift_; }

  /// U^(0), U^(1), U^(P), U^(2P) for p = 0 ... 3 and the points first ... first + n - 1, taken
  /// round the circle: [n, n].
  Tensor overlap(int p, Index first, Index n) const {
    std::vector<Complex> u(n * n);
    for (Index j = 0; j < n; ++j) {
      u[j * n + j] = diagonal_[p][at(first + j)];
      for (Index k = 0; k < j; ++k) {
        // 1/z_j - 1/z_k = -2i sin(pi (j-k)/L) e^{-i pi (j+k)/L}, free of cancellation
        const double step = pi / double(points_);
        const Complex gap = Complex(0, -2 * std::sin(step * double(j - k))) *
                            std::polar(1.0, -step * double(2 * first + j + k));
        u[j * n + k] = u[k * n + j] = (edge_[p][at(first + j)] - edge_[p][at(first + k)]) / gap;
      }
    }
    return tensor(u, {n, n});
  }
  /// C_j of the same points: [n, 1].
  Tensor filtered(Index first, Index n) const {
    std::vector<Complex> c(n);
    for (Index j = 0; j < n; ++j) c[j] = filtered_[at(first + j)];
    return tensor(c, {n, 1});
  }

 private:
  Index at(Index j) const { return ((j % points_) + points_) % points_; }

  Index shift_, points_;
  std::vector<Complex> edge_[4], diagonal_[4], filtered_;
};

/// A mode and the eigenvector it came from.
struct Found {
  Mode mode;
  Complex turn, weight;  ///< u^P and b^T U^(0) b
  Index first = 0;       ///< point of the first element of b
  std::vector<Complex> b;
};

/// What the points first ... first + n - 1 see: modes in and around them.
std::vector<Found> modes_of_window(const Transforms& t, Index first, Index n, double dt_s,
                                   double noise) {
  const Tensor u0 = t.overlap(0, first, n);
  const SVD split = svd(u0);
  const std::vector<double> s = split.s.to_vector();
  // Noise alone makes an overlap matrix of elements near sigma sqrt(2 L) L / (2 pi |j-k|), on the
  // diagonal sigma L sqrt(2 L / 3).
  const double floor = std::max(1e-14 * s[0], noise * std::pow(double(t.points()), 1.5));
  const Index rank = std::count_if(s.begin(), s.end(), [&](double v) { return v > floor; });
  if (rank == 0) return {};

  // U0 = X S Y^H; in the basis Y S^-1/2 the pencil becomes the matrix S^-1/2 X^H U^(P) Y S^-1/2.
  const Tensor scale = rsqrt(slice(split.s, 0, 0, rank));
  const Tensor left = adjoint(slice(split.u, 1, 0, rank) * scale);
  const Tensor basis = adjoint(slice(split.vh, 0, 0, rank)) * scale;
  const Eig pairs = eig(matmul(left, matmul(t.overlap(2, first, n), basis)));
  const Tensor b = matmul(basis, pairs.vectors);
  const Tensor u0_b = matmul(u0, b);
  const Tensor weight = sum(b * u0_b, {0});
  const Tensor misfit = matmul(t.overlap(3, first, n), b) - u0_b * square(pairs.values);
  const std::vector<double> residual = (norm(misfit, {0}) / norm(u0_b, {0})).to_vector();
  const auto amplitude = (square(sum(b * t.filtered(first, n), {0})) / weight).to_vector<Complex>();
  const auto value = pairs.values.to_vector<Complex>(), squares = weight.to_vector<Complex>();
  const auto vectors = transpose(b).to_vector<Complex>();
  const auto one_step =
      (sum(b * matmul(t.overlap(1, first, n), b), {0}) / weight).to_vector<Complex>();  // near u

  const double step_s = double(t.shift()) * dt_s;
  std::vector<Found> modes;
  for (Index k = 0; k < rank; ++k) {
    // The P-th root whose angle is nearest to that of one step.
    const double angle = std::arg(one_step[k]),
                 turned = std::arg(value[k] * std::polar(1.0, -angle * double(t.shift())));
    Mode m;
    m.frequency_hz = (angle + turned / double(t.shift())) / (2 * pi * dt_s);
    m.decay = -std::log(std::abs(value[k])) / step_s;
    m.quality = pi * std::abs(m.frequency_hz) / m.decay;
    m.amplitude = amplitude[k];
    m.error_hz = residual[k] / (2 * std::norm(value[k])) / (2 * pi * step_s);
    if (std::isfinite(m.frequency_hz) && std::isfinite(m.decay) &&
        std::isfinite(std::abs(m.amplitude)))
      modes.push_back({m,
                       value[k],
                       squares[k],
                       first,
                       {vectors.begin() + k * n, vectors.begin() + (k + 1) * n}});
  }
  return modes;
}

void require_usable(std::span<const Complex> signal, double dt_s, double lowest, double low,
                    double high, const HarmonicInversionOptions& o) {
  if (signal.size() < 8)
    throw Error(fmt::format("[harmonic_inversion] needs 8 samples or more, got {}", signal.size()));
  if (!(dt_s > 0))
    throw Error(fmt::format("[harmonic_inversion] the time step must be positive, got {}", dt_s));
  const double nyquist = 0.5 / dt_s;
  if (!(low < high) || low < lowest * nyquist || high > nyquist)
    throw Error(
        fmt::format("[harmonic_inversion] the band must rise within [{}, {}] Hz, got [{}, {}]",
                    lowest * nyquist, nyquist, low, high));
  if (o.window_points < 4 || o.margin_points < 0 || o.noise < 0)
    throw Error("[harmonic_inversion] needs window_points >= 4, margin_points >= 0 and noise >= 0");
  for (std::size_t n = 0; n < signal.size(); ++n)
    if (!std::isfinite(signal[n].real()) || !std::isfinite(signal[n].imag()))
      throw Error(fmt::format(
          "[harmonic_inversion] sample {} is not finite; did the simulation blow up?", n));
}

/// Drops the spurious modes, and the second of two that neighbouring windows found at one point on
/// their border.
std::vector<Found> pruned(std::vector<Found> found, double resolution_hz,
                          const HarmonicInversionOptions& o) {
  std::erase_if(found, [&](const Found& f) {
    const Mode& m = f.mode;
    return m.error_hz > o.max_error * (resolution_hz + std::abs(m.decay) / (2 * pi)) ||
           std::abs(m.quality) < o.min_quality;
  });
  double largest = 0;
  for (const Found& f : found) largest = std::max(largest, std::abs(f.mode.amplitude));
  std::erase_if(found, [&](const Found& f) {
    return std::abs(f.mode.amplitude) < o.min_amplitude * largest;
  });
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.mode.frequency_hz < b.mode.frequency_hz;
  });
  std::vector<Found> kept;
  for (Found& f : found) {
    if (!kept.empty() && kept.back().first != f.first) {
      const Mode &m = f.mode, &last = kept.back().mode;
      const double apart =
          std::hypot(m.frequency_hz - last.frequency_hz, (m.decay - last.decay) / (2 * pi));
      if (apart <= 10 * (m.error_hz + last.error_hz) + 1e-14 * std::abs(m.frequency_hz)) {
        if (m.error_hz < last.error_hz) kept.back() = std::move(f);
        continue;
      }
    }
    kept.push_back(std::move(f));
  }
  return kept;
}

/// What was found, and the sizes P and L that it was found with.
struct Inversion {
  std::vector<Found> found;
  Index shift = 0, points = 0;

  std::vector<Mode> modes() const {
    std::vector<Mode> m;
    for (const Found& f : found) m.push_back(f.mode);
    return m;
  }
};

Inversion invert(std::span<const Complex> signal, double dt_s, double low, double high,
                 const HarmonicInversionOptions& o) {
  const double scale =
      std::abs(*std::max_element(signal.begin(), signal.end(),
                                 [](Complex a, Complex b) { return std::abs(a) < std::abs(b); }));
  if (scale == 0) return {};
  const double noise = std::max(o.noise, 1e-13 * scale);

  // Windows of equal width that cover the band; a short record is taken whole, with all points of
  // the circle.
  const Index half = (static_cast<Index>(signal.size()) + 1) / 2;
  const Index most = o.window_points + 2 * o.margin_points;
  const Index shift = std::max<Index>(1, half / (2 * most));
  const Transforms t(signal, shift);
  const double per_hz = double(t.points()) * dt_s;  // points of the grid in a hertz
  const Index begin = static_cast<Index>(std::floor(low * per_hz)),
              end = static_cast<Index>(std::ceil(high * per_hz)) + 1;
  const Index n_windows =
      t.points() <= most ? 1 : (end - begin + o.window_points - 1) / o.window_points;
  std::vector<Found> found;
  for (Index w = 0; w < n_windows; ++w) {
    const Index from = begin + (end - begin) * w / n_windows,
                to = begin + (end - begin) * (w + 1) / n_windows;
    // A narrow band leaves room for a wider margin, which costs little and keeps out more.
    const Index margin = std::max<Index>(o.margin_points, (most - (to - from)) / 2);
    const Index n = std::min(t.points(), to - from + 2 * margin);
    const Index first = n == t.points() ? 0 : from - margin;
    for (Found& m : modes_of_window(t, first, n, dt_s, noise)) {
      const double f = m.mode.frequency_hz,
                   point =
                       f * per_hz;  // half a point of overlap: no mode falls between two windows
      if (f >= low && f <= high && point >= double(from) - 0.5 && point <= double(to) + 0.5)
        found.push_back(std::move(m));
    }
  }
  return {pruned(std::move(found), 1 / (double(signal.size()) * dt_s), o), shift, t.points()};
}

/// d ln(u_k) / d c_n, [mode, sample]: with b^T U^(p) b = sum_l c_{l+p} (beta * beta)_l, beta_n =
/// sum_j b_j z_j^{-n}, first-order perturbation of the pencil gives d(u^P) = b^T (dU^(P) - u^P
/// dU^(0)) b / b^T U^(0) b.
Tensor sensitivity(const Inversion& v, Index n_samples) {
  const Index l = v.points;
  std::vector<Tensor> rows;
  for (const Found& f : v.found) {
    std::vector<Complex> b(l);
    for (std::size_t j = 0; j < f.b.size(); ++j)
      b[((f.first + static_cast<Index>(j)) % l + l) % l] = f.b[j];
    const Tensor squared =
        ifft(square(fft(fft(tensor(b)), 2 * l)));  // the convolution has 2 L - 1 elements
    const Tensor early = pad(squared, {0}, {n_samples}),
                 late = pad(squared, {v.shift}, {n_samples});
    rows.push_back((slice(late, 0, 0, n_samples) - slice(early, 0, 0, n_samples) * f.turn) /
                   (double(v.shift) * f.turn * f.weight));
  }
  return stack(rows);
}

}  // namespace

std::vector<Mode> harmonic_inversion(std::span<const Complex> signal, double dt_s,
                                     double frequency_min_hz, double frequency_max_hz,
                                     const HarmonicInversionOptions& options) {
  require_usable(signal, dt_s, -1, frequency_min_hz, frequency_max_hz, options);
  return invert(signal, dt_s, frequency_min_hz, frequency_max_hz, options).modes();
}

std::vector<Mode> harmonic_inversion(std::span<const double> signal, double dt_s,
                                     double frequency_min_hz, double frequency_max_hz,
                                     const HarmonicInversionOptions& options) {
  const std::vector<Complex> c(signal.begin(), signal.end());
  require_usable(c, dt_s, 0, frequency_min_hz, frequency_max_hz, options);
  return invert(c, dt_s, frequency_min_hz, frequency_max_hz, options).modes();
}

Resonances resonances(const Tensor& signal, double dt_s, double frequency_min_hz,
                      double frequency_max_hz, const HarmonicInversionOptions& options) {
  if (!signal.defined() || signal.ndim() != 1 || !is_inexact(signal.dtype()))
    throw Error("[resonances] needs one signal, real or complex [n]");
  const Tensor wide = cast(signal, Dtype::c128);
  const std::vector<Complex> c = wide.to_vector<Complex>();
  require_usable(c, dt_s, is_complex(signal.dtype()) ? -1 : 0, frequency_min_hz, frequency_max_hz,
                 options);
  const Inversion v = invert(c, dt_s, frequency_min_hz, frequency_max_hz, options);
  if (v.found.empty())
    throw Error(fmt::format(
        "[resonances] no mode between {} and {} Hz: take a longer record, or a band that has one",
        frequency_min_hz, frequency_max_hz));
  std::vector<double> frequency, decay;
  for (const Mode& m : v.modes()) {
    frequency.push_back(m.frequency_hz);
    decay.push_back(m.decay);
  }
  // The values are those of this signal, which has been read; only first derivatives follow from
  // its eigenvectors, so the sensitivity is an operation that has none.
  const auto n_modes = static_cast<Index>(frequency.size()), n = static_cast<Index>(c.size());
  using Tensors = std::vector<Tensor>;
  const auto rows = host_call({.name = "resonances_sensitivity",
                               .run = [v, n](const Tensors&) { return Tensors{sensitivity(v, n)}; },
                               .types =
                                   [=](const Types&) {
                                     return Types{{Dtype::c128, {n_modes, n}}};
                                   }});
  const auto inversion =
      host_call({.name = "resonances",
                 .run =
                     [=](const Tensors&) {
                       return Tensors{tensor(frequency), tensor(decay)};
                     },
                 .jvp =
                     [=](const Tensors& x, const Tensors&, const Tensors& t) {
                       const Tensor d = matmul(rows(x)[0], t[0]);
                       return Tensors{imag(d) / (2 * pi * dt_s), real(d) / -dt_s};
                     },
                 .types =
                     [=](const Types&) {
                       return Types{{Dtype::f64, {n_modes}}, {Dtype::f64, {n_modes}}};
                     }});
  const Tensors out = inversion({wide});
  return {out[0], out[1]};
}

std::complex<double> signal_of(std::span<const Mode> modes, double t_s) {
  Complex sum = 0;
  for (const Mode& m : modes)
    sum += m.amplitude * std::exp(Complex(-m.decay, 2 * pi * m.frequency_hz) * t_s);
  return sum;
}

}  // namespace tessera::electromagnetics
