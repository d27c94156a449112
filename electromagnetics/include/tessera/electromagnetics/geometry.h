// SPDX-License-Identifier: Apache-2.0
//
// Solids: a few primitives, moved, stretched and combined. Lengths in m, angles in rad.
//
// A point exactly on a surface belongs to the solid if a step of +x from it leads inside (where
// that runs along the surface: a step of +y, then of +z). So a box holds its low faces and not its
// high ones, and solids that share a face leave no gap and have no point in common. The axes of
// this rule are those in which a primitive was made; they turn with it.
#pragma once
#include "tessera/data/outlines.h"

#include <array>
#include <memory>
#include <vector>

namespace tessera::electromagnetics {

using Point = std::array<double, 3>;  ///< x, y, z in m

/// An axis-aligned box; sides may be infinite. Empty where some low > high.
struct Bounds {
  Point low, high;
  bool empty() const { return low[0] > high[0] || low[1] > high[1] || low[2] > high[2]; }
};

/// A rotation matrix, by rows: (R p)_i = R[i] . p.
using Rotation = std::array<Point, 3>;
/// About `axis` (any length but zero), right-handed.
Rotation rotation_about(const Point& axis, double angle_rad);

namespace detail {
struct ShapeNode;
}

/// A solid; a value that is cheap to copy. The default is empty.
class Shape {
 public:
  Shape();
  explicit Shape(std::shared_ptr<const detail::ShapeNode> node) : node_(std::move(node)) {}

  bool contains(const Point& p) const;

  /// Negative inside. Of a primitive that was moved, turned or scaled by one factor: the distance
  /// to its surface. After `scale` by unequal factors: right to first order near the surface (it is
  /// g/|grad g| of the distance g before). Of a combination: the max or min of those of its parts,
  /// which is the distance near the faces and never more than it elsewhere. +infinity if empty.
  double signed_distance(const Point& p) const;

  /// Gradient of the signed distance, of length 1; where several faces are equally near, of one of
  /// them. On the surface it is the outward normal. Zero if the shape is empty.
  Point normal(const Point& p) const;

  /// Holds the solid, and is tight for primitives.
  const Bounds& bounds() const;

  const detail::ShapeNode& node() const { return *node_; }
  const std::shared_ptr<const detail::ShapeNode>& shared() const { return node_; }

 private:
  std::shared_ptr<const detail::ShapeNode> node_;
};

// Primitives. Lengths may be infinite where a sentence says so; anything else that is not finite,
// or a radius that is not positive, throws Error.

/// low <= p < high. Sides may be infinite, or zero: a sheet, which holds no point but has a
/// distance.
Shape box(const Point& low, const Point& high);
/// Where (p - on) . outward < 0.
Shape half_space(const Point& on, const Point& outward);
Shape sphere(const Point& centre, double radius);
/// Semi-axes along x, y, z.
Shape ellipsoid(const Point& centre, const Point& semi_axes);
/// `height` is the whole of it, along `axis`, and may be infinite.
Shape cylinder(const Point& centre, double radius, double height, const Point& axis = {0, 0, 1});
/// A frustum: `radius_low` at centre - axis height/2, `radius_high` at the other end; one may be
/// zero.
Shape cone(const Point& centre, double radius_low, double radius_high, double height,
           const Point& axis = {0, 0, 1});
/// A tube of radius `tube_radius` about the circle of radius `radius` around `axis`; the tube is
/// the thinner of the two.
Shape torus(const Point& centre, double radius, double tube_radius, const Point& axis = {0, 0, 1});

/// A polygon in the plane across `axis`, extruded from `low` to `high` along it (may be infinite
/// with upright walls). Corners are given in the two other axes in cyclic order: (y, z) for axis 0,
/// (z, x) for 1, (x, y) for 2; they run either way round and the outline may be concave.
/// `sidewall_rad` > 0 leans the walls inwards: at height h above `low` the solid is what lies at
/// least h tan(sidewall) inside the outline. Throws Error where the outline crosses or touches
/// itself.
Shape prism(const std::vector<std::array<double, 2>>& corners, double low, double high,
            int axis = 2, double sidewall_rad = 0);
/// What a closed rim holds, which may be of many lines with holes (data/outlines.h, united), in the
/// same way: the area is on the left of its sides.
Shape prism(std::shared_ptr<const data::SideTree> rim, double low, double high, int axis = 2,
            double sidewall_rad = 0);

// Combinations.
Shape unite(const std::vector<Shape>& parts);
Shape intersect(const std::vector<Shape>& parts);
Shape subtract(const Shape& from, const Shape& what);
Shape complement(const Shape& shape);

// Moved copies.
Shape translate(const Shape& shape, const Point& by);
/// p -> R (p - about) + about.
Shape rotate(const Shape& shape, const Rotation& rotation, const Point& about = {0, 0, 0});
/// p -> factors * (p - about) + about; factors are positive.
Shape scale(const Shape& shape, const Point& factors, const Point& about = {0, 0, 0});
Shape scale(const Shape& shape, double factor, const Point& about = {0, 0, 0});

}  // namespace tessera::electromagnetics
