// SPDX-License-Identifier: Apache-2.0
//
// Where a straight line meets the surfaces of a shape.
#pragma once
#include "geometry/shape_node.h"

#include <vector>

namespace tessera::electromagnetics::detail {

/// Adds every t from 0 to 1, and a little beyond, at which from + t (to - from) may pass a surface
/// of a primitive of the shape: all crossings of the shape itself are among them, to rounding.
void add_crossings(const ShapeNode& shape, const Point& from, const Point& to,
                   std::vector<double>& out);

}  // namespace tessera::electromagnetics::detail
