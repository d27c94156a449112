// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/case.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

/// Cell length wanted at x: that of a refined stretch, or what grows from the nearest one by
/// `ratio` a cell, at most `cell`. A geometric series of lengths d, d q, d q^2, ... reaches s after
/// d (q^n - 1)/(q - 1): its length there is d + (q - 1) s.
double wanted(const std::vector<RefineOptions>& refine, double cell, double ratio, double x) {
  double least = cell;
  for (const RefineOptions& r : refine) {
    const double away = std::max({0.0, r.from - x, x - r.to});
    least = std::min(least, r.cell + (ratio - 1) * away);
  }
  return least;
}

}  // namespace

std::vector<double> axis_lines(const GridOptions& grid, int axis, double cell) {
  const AxisOptions& a = grid.axis(axis);
  if (!a.lines.empty()) return a.lines;
  const double low = grid.low(axis), high = grid.high(axis);
  if (!(high > low))
    return {grid.centre[static_cast<std::size_t>(axis)] - cell / 2,
            grid.centre[static_cast<std::size_t>(axis)] + cell / 2};
  if (a.refine.empty()) {
    const int n = std::max(1, static_cast<int>(std::ceil((high - low) / cell - 1e-6)));
    std::vector<double> lines(static_cast<std::size_t>(n) + 1);
    for (int i = 0; i <= n; ++i) lines[static_cast<std::size_t>(i)] = low + (high - low) * i / n;
    return lines;
  }
  // Ends of refined stretches lie on lines; between two of them lines are spaced evenly in the
  // integral of 1/wanted.
  std::vector<double> stations{low, high};
  for (const RefineOptions& r : a.refine)
    for (const double x : {r.from, r.to})
      if (x > low && x < high) stations.push_back(x);
  std::sort(stations.begin(), stations.end());
  stations.erase(std::unique(stations.begin(), stations.end()), stations.end());
  std::vector<double> lines{low};
  for (std::size_t s = 0; s + 1 < stations.size(); ++s) {
    constexpr int parts = 4000;
    std::vector<double> integral(parts + 1, 0.0);
    const double from = stations[s], step = (stations[s + 1] - from) / parts;
    for (int i = 0; i < parts; ++i)
      integral[static_cast<std::size_t>(i) + 1] =
          integral[static_cast<std::size_t>(i)] +
          step / wanted(a.refine, cell, grid.max_ratio, from + (i + 0.5) * step);
    const int n = std::max(1, static_cast<int>(std::ceil(integral.back() - 1e-6)));
    int at = 0;
    for (int i = 1; i < n; ++i) {
      const double target = integral.back() * i / n;
      while (integral[static_cast<std::size_t>(at) + 1] < target) ++at;
      const double share =
          (target - integral[static_cast<std::size_t>(at)]) /
          (integral[static_cast<std::size_t>(at) + 1] - integral[static_cast<std::size_t>(at)]);
      lines.push_back(from + (at + share) * step);
    }
    lines.push_back(stations[s + 1]);
  }
  return lines;
}

}  // namespace tessera::apps::fdtd
