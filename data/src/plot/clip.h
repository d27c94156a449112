// SPDX-License-Identifier: Apache-2.0
// Clipping against an upright rectangle, so that no canvas ever sees a coordinate far outside the
// page.
#pragma once
#include "plot/canvas.h"

#include <span>
#include <vector>

namespace tessera::data::plot {

/// Shortens the segment to its part inside; false if nothing of it is (Liang and Barsky 1984).
bool clip_segment(const Rect& box, Point& p, Point& q);

/// The parts of a polyline that lie inside, in order. Points nearer than 0.02 points to the last
/// one kept are left out.
std::vector<std::vector<Point>> clip_polyline(const Rect& box, std::span<const Point> points);

/// The part of a polygon that lies inside (Sutherland and Hodgman 1974); empty if nothing does.
std::vector<Point> clip_polygon(const Rect& box, std::vector<Point> points);

/// The common part; width or height 0 if there is none.
Rect clip_rect(const Rect& box, const Rect& r);

}  // namespace tessera::data::plot
