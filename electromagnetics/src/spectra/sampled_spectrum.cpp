// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/sampled_spectrum.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

/// A pulse of more steps is looked at each second, third ... of them: it still has a million, and
/// is smooth between them.
constexpr double most_samples = 1 << 20;
constexpr double of_the_peak = 1e-9, of_what_is_there = 1e-8, least_there = 1e-3;

}  // namespace

SampledSpectrum::SampledSpectrum(const Waveform& w, double dt_s, double end_s) {
  if (!(dt_s > 0) || !(end_s >= 0) || !std::isfinite(end_s))
    throw Error("[SampledSpectrum] needs a time step and an end");
  const double steps = end_s / dt_s, stride = std::max(1.0, std::ceil(steps / most_samples));
  dt_ = stride * dt_s;
  std::vector<double> sample(static_cast<std::size_t>(steps / stride) + 1);
  for (std::size_t n = 0; n < sample.size(); ++n) sample[n] = w.at(static_cast<double>(n) * dt_);
  Index points = 64;
  while (points < 2 * static_cast<Index>(sample.size())) points *= 2;
  step_hz_ = 1 / (static_cast<double>(points) * dt_);
  for (const c128& v : rfft(tensor(sample), points).to_vector<c128>())
    share_.push_back(std::abs(v));
  const double peak = *std::max_element(share_.begin(), share_.end());
  if (peak > 0)
    for (double& v : share_) v /= peak;
  dt_ = dt_s;
}

double SampledSpectrum::at(double f_hz) const {
  const double at = std::abs(f_hz) / step_hz_;
  if (!(at < static_cast<double>(share_.size()))) return 0;
  const auto low = static_cast<std::size_t>(at);
  return std::max(share_[low], share_[std::min(low + 1, share_.size() - 1)]);
}

double SampledSpectrum::folded(double f_hz, int every) const {
  const double rate = 1 / (every * dt_), end = step_hz_ * static_cast<double>(share_.size());
  double sum = 0;
  for (int m = 1; m < every && m * rate - f_hz < end; ++m)
    sum += at(m * rate - f_hz) + at(m * rate + f_hz);
  return sum;
}

Sampling coarsest_sampling(std::span<const double> frequencies_hz,
                           std::span<const SampledSpectrum* const> sources, double dt_s) {
  double highest = 0;
  std::vector<double> allowed;
  for (const double f : frequencies_hz) {
    highest = std::max(highest, f);
    double there = least_there;
    for (const SampledSpectrum* s : sources) there = std::max(there, s->at(f));
    allowed.push_back(std::min(of_the_peak, of_what_is_there * there));
  }
  if (sources.empty() || !(highest > 0)) return {};
  Sampling out{static_cast<int>(std::clamp(1 / (2 * highest * dt_s), 1.0, 1e6)), 0};
  for (; out.every > 1; out.every = std::min(out.every - 1, out.every - out.every / 32)) {
    bool enough = true;
    out.folded = 0;
    for (std::size_t k = 0; k < frequencies_hz.size() && enough; ++k)
      for (const SampledSpectrum* s : sources) {
        const double here = s->folded(frequencies_hz[k], out.every);
        out.folded = std::max(out.folded, here);
        enough = enough && here <= allowed[k];
      }
    if (enough) return out;
  }
  return {};
}

}  // namespace tessera::electromagnetics
