// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/sampled_spectrum.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

/// A pulse of more steps is looked at each second, third ... of them: it still has a million, and
/// is smooth between them.
constexpr double most_samples = 1 << 20;
constexpr double of_the_peak = 1e-9, of_what_is_there = 1e-8, least_there = 1e-3;
constexpr double steep = 0.9;  ///< of what folds lies at the nearest two frequencies

}  // namespace

SampledSpectrum::SampledSpectrum(const Waveform& w, double dt_s, double end_s) : dt_(dt_s) {
  if (!(dt_s > 0) || !(end_s >= 0) || !std::isfinite(end_s))
    throw Error("[SampledSpectrum] needs a time step and an end");
  const double steps = end_s / dt_s, stride = std::max(1.0, std::ceil(steps / most_samples));
  std::vector<double> sample(static_cast<std::size_t>(steps / stride) + 1);
  for (std::size_t n = 0; n < sample.size(); ++n)
    sample[n] = w.at(static_cast<double>(n) * stride * dt_s);
  Index points = 64;
  while (points < 2 * static_cast<Index>(sample.size())) points *= 2;
  step_hz_ = 1 / (static_cast<double>(points) * stride * dt_s);
  for (const c128& v : rfft(tensor(sample), points).to_vector<c128>())
    share_.push_back(std::abs(v));
  const double peak = *std::max_element(share_.begin(), share_.end());
  if (peak > 0)
    for (double& v : share_) v /= peak;
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
  std::vector<double> there(frequencies_hz.size(), least_there);
  for (std::size_t k = 0; k < frequencies_hz.size(); ++k) {
    highest = std::max(highest, frequencies_hz[k]);
    for (const SampledSpectrum* s : sources)
      there[k] = std::max(there[k], s->at(frequencies_hz[k]));
  }
  if (sources.empty() || !(highest > 0)) return {};
  Sampling out{static_cast<int>(std::clamp(1 / (2 * highest * dt_s), 1.0, 1e6)), 0};
  for (; out.every > 1; out.every = std::min(out.every - 1, out.every - out.every / 32)) {
    const double rate = 1 / (out.every * dt_s);
    bool enough = true;
    out.folded = 0;
    for (std::size_t k = 0; k < frequencies_hz.size() && enough; ++k)
      for (const SampledSpectrum* s : sources) {
        const double f = frequencies_hz[k], all = s->folded(f, out.every);
        const bool falls = s->at(rate - f) + s->at(rate + f) > steep * all;
        const double allowed = of_what_is_there * there[k];
        out.folded = std::max(out.folded, all);
        enough = enough && all <= (falls ? std::min(allowed, of_the_peak) : allowed);
      }
    if (enough) return out;
  }
  return {};
}

}  // namespace tessera::electromagnetics
