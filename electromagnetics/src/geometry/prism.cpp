// SPDX-License-Identifier: Apache-2.0
//
// The walls: with d(x, y) the distance from the outline and t = z - low, what lies behind
//   (d + t tan s) cos s = 0,
// at height t the points at least t tan s inside the outline. Upright walls: s = 0.
#include "geometry/outline.h"
#include "geometry/solids.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

struct Walls {
  double distance;
  Point gradient;
  double reach;
};

Walls walls(const Prism& s, const Point& q) {
  const OutlineDistance d = outline_distance(*s.sides, {q[0], q[1]});
  if (s.slope == 0) return {d.value, {d.gradient[0], d.gradient[1], 0}, d.apart};
  const double cosine = 1 / std::sqrt(1 + s.slope * s.slope);
  return {(d.value + (q[2] - s.low) * s.slope) * cosine,
          {d.gradient[0] * cosine, d.gradient[1] * cosine, s.slope * cosine},
          (d.apart - std::abs(d.value)) / 2};
}

}  // namespace

bool contains(const Prism& s, const Point& q) {
  if (!(q[2] >= s.low && q[2] < s.high)) return false;
  if (s.slope == 0) return outline_contains(*s.sides, {q[0], q[1]});
  const Walls w = walls(s, q);
  return w.distance < 0 || (w.distance == 0 && holds_surface(w.gradient));
}

Distance distance(const Prism& s, const Point& q) {
  const Walls w = walls(s, q);
  const double below = s.low - q[2], above = q[2] - s.high;
  const double to_end = std::max(below, above);
  const Point out{0, 0, below > above ? -1.0 : 1.0};
  if (s.slope != 0 || w.distance <= 0 || to_end <= 0)
    return w.distance >= to_end ? Distance{w.distance, w.gradient} : Distance{to_end, out};
  const double d = std::hypot(w.distance, to_end);
  return {d, plus(times(w.distance / d, w.gradient), times(to_end / d, out))};
}

void faces(const Prism& s, const Point& q, SolidFaces& out) {
  if (std::isfinite(s.low)) out.add({{0, 0, -1}, s.low - q[2], INFINITY});
  if (std::isfinite(s.high)) out.add({{0, 0, 1}, q[2] - s.high, INFINITY});
  const Walls w = walls(s, q);
  out.add({w.gradient, w.distance, w.reach});
}

double support(const Prism& s, const Point& v) {
  const double lean = s.slope < 0 ? -s.slope * (s.high - s.low) : 0;
  double reach = -INFINITY;
  for (const data::Side& c : s.sides->sides())
    reach = std::max(reach, v[0] * c.from[0] + v[1] * c.from[1]);
  reach += std::hypot(v[0], v[1]) * lean;
  return v[2] == 0 ? reach : reach + v[2] * (v[2] > 0 ? s.high : s.low);
}

}  // namespace tessera::electromagnetics::detail
