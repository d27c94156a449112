// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/pulse_basis.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
constexpr double largest_condition = 1e10;

/// The least distance of two frequencies, 0 and the Nyquist frequency: at these the mirror image at
/// -f is the neighbour.
double nearest(std::span<const double> frequencies_hz, double nyquist) {
  std::vector<double> f(frequencies_hz.begin(), frequencies_hz.end());
  std::sort(f.begin(), f.end());
  double gap = std::min(2 * f.front(), 2 * (nyquist - f.back()));
  for (std::size_t k = 1; k < f.size(); ++k) gap = std::min(gap, f[k] - f[k - 1]);
  return gap;
}

}  // namespace

PulseBasis pulse_basis(std::span<const double> frequencies_hz, double dt, int n_steps,
                       bool without_mean) {
  const auto count = static_cast<Index>(frequencies_hz.size());
  if (count == 0 || !(dt > 0) || n_steps < 2 * count)
    throw Error(
        fmt::format("[pulse_basis] needs a frequency, a positive time step and two steps for each "
                    "frequency; got {} "
                    "frequencies, dt {} s, {} steps",
                    count, dt, n_steps));
  const double nyquist = 0.5 / dt;
  for (double f : frequencies_hz)
    if (!(f > 0) || !(f < nyquist))
      throw Error(
          fmt::format("[pulse_basis] frequencies must lie between 0 and {} Hz, got {}: there the "
                      "imaginary part is fixed",
                      nyquist, f));

  const Index sums = 2 * count + (without_mean ? 1 : 0);
  std::vector<double> rows(sums * n_steps, 1.0), window(n_steps);
  for (int n = 0; n < n_steps; ++n) window[n] = std::pow(std::sin(pi * (n + 0.5) / n_steps), 4);
  for (Index k = 0; k < count; ++k)
    for (int n = 0; n < n_steps; ++n) {
      const double phase = 2 * pi * frequencies_hz[k] * n * dt;
      rows[k * n_steps + n] = std::cos(phase);
      rows[(count + k) * n_steps + n] = -std::sin(phase);
    }
  const Tensor f = tensor(rows, {sums, n_steps}), weighted = f * tensor(window);
  const Tensor gram = matmul(weighted, transpose(f));
  const std::vector<double> eigenvalues = eigh(gram).values.to_vector();
  const double condition = eigenvalues.front() > 0 ? eigenvalues.back() / eigenvalues.front()
                                                   : std::numeric_limits<double>::infinity();
  if (condition > largest_condition) {
    const double gap = nearest(frequencies_hz, nyquist);
    throw Error(fmt::format(
        "[pulse_basis] the frequencies are too close for {} steps (condition {:.1e}): {:.3e} Hz "
        "apart at the nearest, "
        "mirror images at 0 and {:.3e} Hz included; take {:.0f} steps or more, or leave one out",
        n_steps, condition, gap, nyquist, std::ceil(2 / (gap * dt))));
  }
  // One correction brings the sums from condition x rounding to rounding.
  Tensor p = solve(gram, weighted);
  const Tensor miss = eye(sums) - matmul(p, transpose(f));
  p = p + matmul(miss, p);
  return {contiguous(slice(p, 0, 0, 2 * count)), condition};
}

}  // namespace tessera::electromagnetics
