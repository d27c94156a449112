// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/run_length.h"

#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

double resolved_extent(const YeeGrid& grid, int axis) {
  const std::vector<double>& lines = grid.lines[static_cast<std::size_t>(axis)];
  return grid.resolved(axis) ? lines.back() - lines.front() : 0;
}

double end_or_zero(double sources_end_s) {
  return std::isfinite(sources_end_s) ? sources_end_s : 0;
}

}  // namespace

std::int64_t steps_within(double duration_s, double dt_s) {
  return static_cast<std::int64_t>(std::clamp(std::ceil(duration_s / dt_s - 1e-9), 1.0, 0x1p50));
}

std::optional<std::int64_t> fixed_end(const RunEnd& end, double sources_end_s, double dt_s) {
  double time_s = end.time_s.value_or(INFINITY);
  if (end.after_sources_s) time_s = std::min(time_s, sources_end_s + *end.after_sources_s);
  if (!std::isfinite(time_s)) return end.steps;
  const std::int64_t steps = steps_within(time_s, dt_s);
  return end.steps ? std::min(*end.steps, steps) : steps;
}

std::int64_t steps_of_decay(const YeeGrid& grid, double sources_end_s, double dt_s) {
  double around = 0;
  for (int d = 0; d < 3; ++d) around += resolved_extent(grid, d);
  return steps_within(end_or_zero(sources_end_s) + 20 * around / speed_of_light, dt_s);
}

std::int64_t steps_of_passages(const YeeGrid& grid, std::span<const Medium> media, double f_hz,
                               double sources_end_s, double dt_s) {
  double diagonal = 0, index = 1;
  for (int d = 0; d < 3; ++d) diagonal = std::hypot(diagonal, resolved_extent(grid, d));
  for (const Medium& m : media) {
    if (m.pec) continue;
    const double eps =
        f_hz > 0 && disperses(m) ? permittivity(m, 0, beside_pole(m, f_hz)).real() : 0;
    index = std::max(index, std::sqrt(std::max(m.eps[0], eps) * m.mu[0]));
  }
  const double passages = 2 * index * diagonal / speed_of_light;
  return static_cast<std::int64_t>((end_or_zero(sources_end_s) + passages) / dt_s) + 1;
}

}  // namespace tessera::electromagnetics
