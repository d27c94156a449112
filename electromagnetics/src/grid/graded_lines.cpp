// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/graded_lines.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

double wanted_cell(std::span<const RefinedStretch> stretches, double cell, double growth,
                   double x) {
  double least = cell;
  for (const RefinedStretch& r : stretches) {
    const double away = std::max({0.0, r.from - x, x - r.to});
    least = std::min(least, r.cell + growth * away);
  }
  return least;
}

/// The lines between two stations, and the second of them; evenly in the integral of 1/wanted.
void add_lines(std::span<const RefinedStretch> stretches, double cell, double growth, double from,
               double to, std::vector<double>& lines) {
  constexpr int parts = 4000;
  std::vector<double> integral(parts + 1, 0.0);
  const double step = (to - from) / parts;
  for (int i = 0; i < parts; ++i)
    integral[static_cast<std::size_t>(i) + 1] =
        integral[static_cast<std::size_t>(i)] +
        step / wanted_cell(stretches, cell, growth, from + (i + 0.5) * step);
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
  lines.push_back(to);
}

/// The axis while its lines are found. Between two stations neighbours keep to the ratio; at a
/// station the two sides round their numbers of cells up each for itself, so that what is wanted
/// there is lowered until neighbours do.
class GradedAxis {
 public:
  GradedAxis(double low, double high, double cell, std::span<const RefinedStretch> stretches,
             double ratio)
      : stations_{low, high},
        wanted_(stretches.begin(), stretches.end()),
        cell_(cell),
        ratio_(ratio),
        growth_(std::log(ratio)) {
    const double rounding = 1e-9 * (high - low);
    for (const RefinedStretch& r : stretches)
      for (const double x : {r.from, r.to})
        if (x > low + rounding && x < high - rounding) stations_.push_back(x);
    std::sort(stations_.begin(), stations_.end());
    stations_.erase(std::unique(stations_.begin(), stations_.end(),
                                [&](double a, double b) { return b - a < rounding; }),
                    stations_.end());
    for (const double x : stations_) wanted_.push_back({x, x, cell});
  }

  std::vector<double> lines() const {
    std::vector<double> out{stations_.front()};
    for (std::size_t s = 0; s + 1 < stations_.size(); ++s)
      add_lines(wanted_, cell_, growth_, stations_[s], stations_[s + 1], out);
    return out;
  }

  /// False: no neighbours in `lines`, which are those of now, differ by more than the ratio.
  bool smooth(const std::vector<double>& lines) {
    constexpr double exact = 1e-3;                       // to which lines are found
    const double first = std::expm1(growth_) / growth_;  // the first cell that grows from 1
    const std::size_t given = wanted_.size() - stations_.size();
    bool any = false;
    for (std::size_t s = 1; s + 1 < stations_.size(); ++s) {
      const auto at = std::lower_bound(lines.begin(), lines.end(), stations_[s]);
      const double before = *at - *(at - 1), behind = *(at + 1) - *at;
      const double small = std::min(before, behind);
      if (std::max(before, behind) <= small * ratio_ * (1 + exact)) continue;
      const double now = wanted_cell(wanted_, cell_, growth_, stations_[s]);
      wanted_[given + s].cell = std::min(small * ratio_ / first, (1 - exact) * now);
      any = true;
    }
    return any;
  }

 private:
  std::vector<double> stations_;
  std::vector<RefinedStretch> wanted_;  ///< those that are given, then one for each station
  double cell_, ratio_, growth_;
};

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
  GradedAxis axis(low, high, cell, stretches, max_ratio);
  std::vector<double> lines = axis.lines();
  for (int round = 0; round < 1000 && max_ratio > 1 && axis.smooth(lines); ++round)
    lines = axis.lines();
  return lines;
}

}  // namespace tessera::electromagnetics
