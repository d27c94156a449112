// SPDX-License-Identifier: Apache-2.0
//
// Simple closed polygons in a plane.
#pragma once
#include <array>
#include <vector>

namespace tessera::electromagnetics::detail {

using Point2 = std::array<double, 2>;

/// The corners counterclockwise, without a repeated last one. Throws Error, naming `operation`,
/// where there are fewer than three, two neighbours coincide, or two sides cross or touch. Cost:
/// every pair of sides once.
std::vector<Point2> simple_outline(const std::vector<Point2>& corners, const char* operation);

/// Points on the outline follow the surface rule of geometry.h, so outlines that share a side part
/// the points on it between them.
bool outline_contains(const std::vector<Point2>& corners, const Point2& p);

struct OutlineDistance {
  double value;     // negative inside
  Point2 gradient;  // outward
  double apart;     // distance of the nearest side that faces elsewhere (by more than 18 degrees)
};
OutlineDistance outline_distance(const std::vector<Point2>& corners, const Point2& p);

}  // namespace tessera::electromagnetics::detail
