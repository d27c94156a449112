// SPDX-License-Identifier: Apache-2.0
//
// Half-space and box.
#include "geometry/solids.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

Point along(int axis, double sign) {
  Point n{0, 0, 0};
  n[axis] = sign;
  return n;
}

}  // namespace

bool contains(const HalfSpace& s, const Point& q) {
  const double d = dot(s.normal, q) - s.offset;
  return d < 0 || (d == 0 && holds_surface(s.normal));
}

Distance distance(const HalfSpace& s, const Point& q) {
  return {dot(s.normal, q) - s.offset, s.normal};
}

void faces(const HalfSpace& s, const Point& q, SolidFaces& out) {
  out.add({s.normal, dot(s.normal, q) - s.offset, INFINITY});
}

double support(const HalfSpace& s, const Point& v) {
  const double length = norm(v);
  return dot(v, s.normal) == length ? length * s.offset : INFINITY;
}

bool contains(const Block& s, const Point& q) {
  for (int k = 0; k < 3; ++k)
    if (!(q[k] >= s.low[k] && q[k] < s.high[k])) return false;
  return true;
}

Distance distance(const Block& s, const Point& q) {
  int nearest = 0;
  Point beyond, sign, outside{};  // beyond: signed distance from the slab of each axis
  for (int k = 0; k < 3; ++k) {
    const double below = s.low[k] - q[k], above = q[k] - s.high[k];
    sign[k] = below > above ? -1 : 1;
    beyond[k] = std::max(below, above);
    outside[k] = std::max(beyond[k], 0.0);
    if (beyond[k] > beyond[nearest]) nearest = k;
  }
  if (beyond[nearest] <= 0) return {beyond[nearest], along(nearest, sign[nearest])};
  const double d = norm(outside);
  Point gradient;
  for (int k = 0; k < 3; ++k) gradient[k] = sign[k] * outside[k] / d;
  return {d, gradient};
}

void faces(const Block& s, const Point& q, SolidFaces& out) {
  for (int k = 0; k < 3; ++k) {
    if (std::isfinite(s.low[k])) out.add({along(k, -1), s.low[k] - q[k], INFINITY});
    if (std::isfinite(s.high[k])) out.add({along(k, 1), q[k] - s.high[k], INFINITY});
  }
}

double support(const Block& s, const Point& v) {
  double sum = 0;
  for (int k = 0; k < 3; ++k)
    if (v[k] != 0) sum += v[k] * (v[k] > 0 ? s.high[k] : s.low[k]);
  return sum;
}

}  // namespace tessera::electromagnetics::detail
