// SPDX-License-Identifier: Apache-2.0
#include "domains/box_cut.h"

#include "system/exact_fractions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace tessera::molecular {
namespace {

using Point = std::array<std::uint32_t, 3>;

struct Cutter {
  Vec3 width;
  std::vector<Region> regions;

  std::size_t axis_of(const Region& r) const {
    constexpr double about = 1.02;
    const auto length = [&](std::size_t a) {
      return width[a] * 0x1p-32 * static_cast<double>(r.size[a]);
    };
    std::size_t best = 1;
    for (const std::size_t a : {std::size_t{2}, std::size_t{0}})
      if (length(a) > about * length(best)) best = a;
    return best;
  }
  /// Regions of these weights that make up r, which holds the points.
  void cut(const Region& r, std::span<Point> points, std::span<const double> weights) {
    if (weights.size() == 1) return regions.push_back(r);
    const std::size_t half = weights.size() / 2, axis = axis_of(r);
    const double first = std::accumulate(weights.begin(),
                                         weights.begin() + static_cast<std::ptrdiff_t>(half), 0.0),
                 all = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto from_low = [&](const Point& p) { return p[axis] - r.low[axis]; };
    const auto many = std::min(
        points.size(),
        static_cast<std::size_t>(std::llround(first / all * static_cast<double>(points.size()))));
    std::uint64_t at = static_cast<std::uint64_t>(first / all * static_cast<double>(r.size[axis]));
    if (many > 0 && many < points.size()) {
      std::ranges::nth_element(points, points.begin() + static_cast<std::ptrdiff_t>(many), {},
                               from_low);
      at = from_low(points[many]);
    }
    Region low = r, high = r;
    low.size[axis] = at;
    high.low[axis] += static_cast<std::uint32_t>(at);
    high.size[axis] -= at;
    const auto middle = std::partition(points.begin(), points.end(),
                                       [&](const Point& p) { return from_low(p) < at; });
    cut(low, {points.begin(), middle}, weights.first(half));
    cut(high, {middle, points.end()}, weights.subspan(half));
  }
};

}  // namespace

std::vector<Region> cut_box(const Box& box, const std::vector<Vec3>& points,
                            const std::vector<double>& weights) {
  const Vec3 over = over_edges(box);
  std::vector<Point> units;
  for (const Vec3& p : points) {
    const Vec3 s = exact_fractions(box, over, p.data());
    if (std::isfinite(s[0] + s[1] + s[2]))
      units.push_back({in_units(s[0]), in_units(s[1]), in_units(s[2])});
  }
  Cutter cutter{widths_nm(box), {}};
  cutter.cut(Region{}, units, weights);
  return cutter.regions;
}

}  // namespace tessera::molecular
