// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/graded_lines.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

double wanted_cell(std::span<const RefinedStretch> stretches, double cell, double ratio, double x) {
  double least = cell;
  for (const RefinedStretch& r : stretches) {
    const double away = std::max({0.0, r.from - x, x - r.to});
    least = std::min(least, r.cell + (ratio - 1) * away);
  }
  return least;
}

}  // namespace

std::vector<double> graded_lines(double low, double high, double cell,
                                 std::span<const RefinedStretch> stretches, double max_ratio) {
  const bool positive = cell > 0 && std::all_of(stretches.begin(), stretches.end(),
                                                [](const RefinedStretch& r) { return r.cell > 0; });
  if (!(high > low) || !positive || !(max_ratio >= 1))
    throw Error(fmt::format(
        "[graded_lines] expected low < high, cells longer than 0 and a ratio of 1 or more, got {} "
        "to {} m, cells of {} m and a ratio of {}",
        low, high, cell, max_ratio));
  if (stretches.empty()) {
    const int n = std::max(1, static_cast<int>(std::ceil((high - low) / cell - 1e-6)));
    std::vector<double> lines(static_cast<std::size_t>(n) + 1);
    for (int i = 0; i <= n; ++i) lines[static_cast<std::size_t>(i)] = low + (high - low) * i / n;
    return lines;
  }
  std::vector<double> stations{low, high};
  for (const RefinedStretch& r : stretches)
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
          step / wanted_cell(stretches, cell, max_ratio, from + (i + 0.5) * step);
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

}  // namespace tessera::electromagnetics
