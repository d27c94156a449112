// SPDX-License-Identifier: Apache-2.0
#include "geometry/solid_angles.h"

#include "geometry/vector.h"

#include <algorithm>
#include <numbers>

namespace tessera::electromagnetics::detail {
namespace {

constexpr std::size_t few_triangles = 4;  ///< of a leaf
constexpr double far = 3;                 ///< radii

Point middle_of(const Triangle& t) { return times(1.0 / 3, plus(t[0], plus(t[1], t[2]))); }

}  // namespace

/// A. van Oosterom, J. Strackee, IEEE Trans. Biomed. Eng. 30, 1983.
double solid_angle(const Triangle& t, const Point& q) {
  const Point a = minus(t[0], q), b = minus(t[1], q), c = minus(t[2], q);
  const double la = norm(a), lb = norm(b), lc = norm(c);
  const double volume = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                        a[2] * (b[0] * c[1] - b[1] * c[0]);
  if (volume == 0) return 0;
  return 2 * std::atan2(volume, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

SolidAngles::SolidAngles(std::vector<Triangle> triangles) : triangles_(std::move(triangles)) {
  if (!triangles_.empty()) build(0, triangles_.size());
}

std::uint32_t SolidAngles::build(std::size_t first, std::size_t last) {
  const auto here = static_cast<std::uint32_t>(nodes_.size());
  Node node{{}, {}, 0, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first),
            0};
  double weight = 0;
  Point low = triangles_[first][0], high = low;
  for (std::size_t n = first; n < last; ++n) {
    const Point area = times(0.5, area_vector(triangles_[n]));
    node.area = plus(node.area, area);
    node.middle = plus(node.middle, times(norm(area), middle_of(triangles_[n])));
    weight += norm(area);
    for (const Point& p : triangles_[n])
      for (int k = 0; k < 3; ++k)
        low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  }
  node.middle = weight > 0 ? times(1 / weight, node.middle) : triangles_[first][0];
  for (std::size_t n = first; n < last; ++n)
    for (const Point& p : triangles_[n])
      node.radius = std::max(node.radius, norm(minus(p, node.middle)));
  nodes_.push_back(node);
  if (last - first <= few_triangles) return here;
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
  const std::size_t half = (first + last) / 2;
  std::nth_element(triangles_.begin() + static_cast<std::ptrdiff_t>(first),
                   triangles_.begin() + static_cast<std::ptrdiff_t>(half),
                   triangles_.begin() + static_cast<std::ptrdiff_t>(last),
                   [&](const Triangle& a, const Triangle& b) {
                     return middle_of(a)[axis] < middle_of(b)[axis];
                   });
  build(first, half);
  const std::uint32_t second = build(half, last);
  nodes_[here].second = second;
  return here;
}

double SolidAngles::winding(const Point& q) const {
  if (empty()) return 0;
  double sum = 0;
  std::uint32_t stack[64];
  int n = 0;
  stack[n++] = 0;
  while (n > 0) {
    const std::uint32_t here = stack[--n];
    const Node& node = nodes_[here];
    const Point r = minus(node.middle, q);
    const double distance = norm(r);
    if (distance > far * node.radius) {
      sum += dot(node.area, r) / (distance * distance * distance);
    } else if (node.second == 0) {
      for (std::size_t k = node.first; k < std::size_t{node.first} + node.count; ++k)
        sum += solid_angle(triangles_[k], q);
    } else {
      stack[n++] = node.second;
      stack[n++] = here + 1;
    }
  }
  return sum / (4 * std::numbers::pi);
}

}  // namespace tessera::electromagnetics::detail
