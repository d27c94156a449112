// SPDX-License-Identifier: Apache-2.0
//
// Areas in a plane: simple closed polygons, and what rims of several lines hold.
#pragma once
#include "tessera/data/outlines.h"

#include <array>
#include <memory>
#include <vector>

namespace tessera::electromagnetics::detail {

using Point2 = std::array<double, 2>;

/// The corners counterclockwise, without a repeated last one. Throws Error, naming `operation`,
/// where there are fewer than three, two neighbours coincide, or two sides cross or touch. Cost:
/// every pair of sides once.
std::vector<Point2> simple_outline(const std::vector<Point2>& corners, const char* operation);

/// Its sides, the area on their left.
std::shared_ptr<const data::SideTree> sides_of_outline(const std::vector<Point2>& corners);

/// Of closed rims. Points on a side follow the surface rule of geometry.h, so outlines that share
/// one part the points on it between them.
bool outline_contains(const data::SideTree& sides, const Point2& p);

struct OutlineDistance {
  double value;     // negative inside
  Point2 gradient;  // outward
  double apart;     // distance of the nearest side that faces elsewhere (by more than 18 degrees)
};
OutlineDistance outline_distance(const data::SideTree& sides, const Point2& p);

}  // namespace tessera::electromagnetics::detail
