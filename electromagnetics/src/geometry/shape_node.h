// SPDX-License-Identifier: Apache-2.0
//
// A shape is a tree: primitives placed in space below unions, intersections and complements.
#pragma once
#include "geometry/solids.h"

namespace tessera::electromagnetics::detail {

/// p = forward q + origin takes a primitive's own axes to those of space.
struct Placement {
  Rotation forward{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, inverse{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Point origin{};
  double least_stretch = 1;  // |forward q| >= least_stretch |q|
};

enum class ShapeKind { primitive, unite, intersect, complement };

struct ShapeNode {
  ShapeKind kind = ShapeKind::unite;
  std::vector<std::shared_ptr<const ShapeNode>> parts;
  Solid solid;
  Placement placement;
  Bounds bounds;
};

bool contains(const ShapeNode& node, const Point& p);
Distance distance(const ShapeNode& node, const Point& p);
/// Has the sign of the distance and is never larger: no surface is nearer than this.
double clearance(const ShapeNode& node, const Point& p);
/// The faces of a primitive near p, in space; of a mesh none (mesh_fill.h).
SolidFaces faces(const ShapeNode& primitive, const Point& p);
/// A tree of one primitive.
Shape primitive(const Solid& solid, const Placement& at = {});

}  // namespace tessera::electromagnetics::detail
