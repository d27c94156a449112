// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/energy_watch.h"

#include <algorithm>
#include <utility>

namespace tessera::electromagnetics {
namespace {

constexpr double growth = 10;    ///< of the energy that can be: no passive medium does that
constexpr double quiet = 1e-10;  ///< of the peak: below this share the energy swings by itself
constexpr double still = 0.977237220955811;  ///< -0.1 dB
constexpr double loud = 0.316;               ///< of a source's largest current
constexpr std::size_t most_looks = 12;       ///< at one source, or one more
/// At 4 samples in a period and more, one of so many on each side is near the carrier's crest.
constexpr std::size_t crest = 2;

/// The largest current in the steps 0, every, 2 every, ...
std::vector<double> sizes(const Injection& source, double dt_s, std::int64_t every,
                          std::int64_t last_step) {
  std::vector<double> out;
  if (!std::isfinite(source.end_s)) return out;
  for (std::int64_t n = 0;
       static_cast<double>(n) * dt_s < source.end_s && (last_step == 0 || n < last_step);
       n += every) {
    double size = 0;
    for (const double c : source.currents(n, 1, dt_s)) size = std::max(size, std::abs(c));
    out.push_back(size);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> loud_steps(std::span<const Injection> sources, double dt_s,
                                     std::int64_t every, std::int64_t last_step) {
  std::vector<std::int64_t> all;
  for (const Injection& source : sources) {
    const std::vector<double> size = sizes(source, dt_s, every, last_step);
    const double largest = size.empty() ? 0 : *std::max_element(size.begin(), size.end());
    std::vector<std::size_t> at;  // where it is loud, or a crest beside is
    for (std::size_t k = 0; k < size.size() && largest > 0; ++k) {
      const std::size_t first = k - std::min(k, crest), end = std::min(k + crest + 1, size.size());
      if (std::any_of(size.data() + first, size.data() + end,
                      [&](double s) { return s >= loud * largest; }))
        at.push_back(k);
    }
    const std::size_t each = std::max<std::size_t>(2, (at.size() + most_looks - 1) / most_looks);
    for (const std::size_t k : at)
      if (k % each == 0) all.push_back(static_cast<std::int64_t>(k + 1) * every);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void EnergyWatch::look(const TimeDomain& run) {
  energy_j = run.energy_j();
  if (std::isfinite(energy_j)) peak_j = std::max(peak_j, energy_j);
}

bool EnergyWatch::grows(const TimeDomain& run) {
  look(run);
  if (!std::isfinite(energy_j)) return true;
  stored_j = run.stored_energy_j();
  const double work_j = run.given_j(), given = work_j - std::exchange(given_j, work_j);
  explained_j = std::isfinite(given) ? std::min(stored_j, explained_j + std::max(given, 0.0))
                : least_stored_j < 0 ? stored_j
                                     : std::min(stored_j, explained_j);
  if (run.time_s() >= run.sources_end_s()) {
    if (std::isfinite(stored_j)) peak_j = std::max(peak_j, stored_j);
    least_stored_j = least_stored_j < 0 ? stored_j : std::min(least_stored_j, stored_j);
  }
  return stored_j > growth * std::max(explained_j, peak_j * quiet);
}

bool EnergyWatch::stays(std::int64_t step, std::int64_t span) {
  if (span_begin < 0) span_begin = step;
  span_j = std::max(span_j, left_j());
  if (step - span_begin < span) return false;
  const bool same = former_span_j > 0 && span_j > still * former_span_j;
  former_span_j = span_j, span_j = left_j(), span_begin = step;
  return same;
}

}  // namespace tessera::electromagnetics
