// SPDX-License-Identifier: Apache-2.0
//
// Points within a distance of a position, by cells at least that wide: in a box by fractions of its
// edges and with images, without one in the rectangle that holds the points.
#pragma once
#include "tessera/molecular/box.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tessera::molecular {

class NearPoints {
 public:
  NearPoints(const Box& box, double radius_nm)
      : box_(box),
        radius2_(radius_nm * radius_nm),
        periodic_(is_periodic(box)),
        radius_(radius_nm) {
    if (periodic_) {
      const Vec3 w = widths_nm(box);
      for (std::size_t a = 0; a < 3; ++a)
        cells_[a] =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(w[a] / radius_nm), 1, 1 << 20);
    }
  }
  void add(std::int32_t index, const Vec3& x) { points_[key(cell(x))].push_back({index, x}); }
  /// f(index, distance^2) for the points closer to x than the radius, or as close; stops where f
  /// returns false. A point's nearest image counts; the radius may be at most half of the smallest
  /// width.
  template <class F>
  bool each(const Vec3& x, F&& f) const {
    const std::array<std::int64_t, 3> c = cell(x);
    std::array<std::int64_t, 3> from, to;
    for (std::size_t a = 0; a < 3; ++a) {
      from[a] = -1, to[a] = 1;
      if (periodic_ && cells_[a] < 3) from[a] = 0, to[a] = cells_[a] - 1;  // all cells, once
    }
    for (std::int64_t i = from[0]; i <= to[0]; ++i)
      for (std::int64_t j = from[1]; j <= to[1]; ++j)
        for (std::int64_t k = from[2]; k <= to[2]; ++k) {
          std::array<std::int64_t, 3> at = {c[0] + i, c[1] + j, c[2] + k};
          if (periodic_)
            for (std::size_t a = 0; a < 3; ++a)
              at[a] = ((at[a] % cells_[a]) + cells_[a]) % cells_[a];
          const auto found = points_.find(key(at));
          if (found == points_.end()) continue;
          for (const auto& [index, p] : found->second) {
            const Vec3 d = shortest(box_, {x[0] - p[0], x[1] - p[1], x[2] - p[2]});
            const double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (d2 <= radius2_ && !f(index, d2)) return false;
          }
        }
    return true;
  }
  bool any(const Vec3& x) const {
    return !each(x, [](std::int32_t, double) { return false; });
  }

 private:
  std::array<std::int64_t, 3> cell(const Vec3& x) const {
    std::array<std::int64_t, 3> c;
    const Vec3 s = periodic_ ? fractions(box_, x) : x;
    for (std::size_t a = 0; a < 3; ++a)
      c[a] = periodic_ ? std::clamp<std::int64_t>(
                             static_cast<std::int64_t>((s[a] - std::floor(s[a])) *
                                                       static_cast<double>(cells_[a])),
                             0, cells_[a] - 1)
                       : static_cast<std::int64_t>(std::floor(s[a] / radius_));
    return c;
  }
  static std::uint64_t key(const std::array<std::int64_t, 3>& c) {
    std::uint64_t k = 0;
    for (const std::int64_t v : c) k = (k << 21) ^ (static_cast<std::uint64_t>(v) & 0x1fffff);
    return k;
  }
  struct Point {
    std::int32_t index;
    Vec3 x;
  };
  Box box_;
  double radius2_;
  bool periodic_;
  double radius_;
  std::array<std::int64_t, 3> cells_{1, 1, 1};
  std::unordered_map<std::uint64_t, std::vector<Point>> points_;
};

}  // namespace tessera::molecular
