// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/geometry.h"

#include <cmath>

namespace tessera::electromagnetics::detail {

inline double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Point plus(const Point& a, const Point& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Point minus(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Point times(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Point& a) { return std::sqrt(dot(a, a)); }

/// Whether the first component that is not zero is negative: a surface with this outward normal
/// belongs to its solid (geometry.h).
inline bool holds_surface(const Point& outward) {
  for (double n : outward)
    if (n != 0) return n < 0;
  return false;
}

}  // namespace tessera::electromagnetics::detail
