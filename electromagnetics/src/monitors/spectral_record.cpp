// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/monitors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

/// Of windows an eighth of a period of the lowest frequency long, or four periods of the highest
/// where those are less; and 8 looks at least: fewer see a wave by chance.
Fading fading_of(const std::vector<double>& frequencies_hz, double dt_s, int every) {
  const auto [lowest, highest] = std::minmax_element(frequencies_hz.begin(), frequencies_hz.end());
  const auto steps = [&](double periods, double frequency_hz) {
    return frequency_hz > 0
               ? static_cast<std::int64_t>(std::min(periods / frequency_hz / dt_s, 1e6))
               : std::int64_t{1000};
  };
  const std::int64_t window =
      std::max<std::int64_t>(std::min(steps(0.125, *lowest), steps(4, *highest)), 8 * every);
  return {window, every, steps(0.5, *lowest) / window};
}

}  // namespace

SpectralRecord::SpectralRecord(const std::vector<double>& frequencies_hz, double dt_s,
                               const std::vector<Edge>& edges, int every)
    : dt_s_(dt_s),
      every_(every),
      dft_(frequencies_hz, dt_s, edges, every),
      fading_(fading_of(frequencies_hz, dt_s, every)) {}

void SpectralRecord::subtract(std::vector<double> sums, int every) {
  if (sums.size() != dft_.sums().size())
    throw Error(fmt::format("[SpectralRecord] expected {} sums to subtract, got {}",
                            dft_.sums().size(), sums.size()));
  start_ = std::move(sums);
  for (double& v : start_) v *= -static_cast<double>(every) / every_;  // n steps count n times
}

void SpectralRecord::restore(std::vector<double> own_sums, std::vector<double> fading, int every) {
  if (every != every_) {
    for (double& v : start_) v *= static_cast<double>(every_) / every;
    dft_.take_each(every);
    fading_ = fading_of(dft_.frequencies_hz(), dt_s_, every);
    every_ = every;
  }
  dft_.restore(std::move(own_sums));
  fading_.restore(std::move(fading));
}

std::vector<double> SpectralRecord::sums() const {
  std::vector<double> out = dft_.sums();
  for (std::size_t n = 0; n < start_.size(); ++n) out[n] += start_[n];
  return out;
}

Tensor SpectralRecord::values(const SampleList& samples) const {
  if (start_.empty()) return dft_.values(samples);
  RunningDft difference = dft_;
  difference.restore(sums());
  return difference.values(samples);
}

double SpectralRecord::norm() const {
  double sum = 0;
  const std::vector<double>& own = dft_.sums();
  for (std::size_t n = 0; n < own.size(); ++n) {
    const double v = start_.empty() ? own[n] : own[n] + start_[n];
    sum += v * v;
  }
  return std::sqrt(sum);
}

}  // namespace tessera::electromagnetics
