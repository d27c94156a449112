// SPDX-License-Identifier: Apache-2.0
//
// Building shapes: primitives, combinations, and moved copies, which move the primitives of the
// tree.
#include "geometry/outline.h"
#include "geometry/shape_node.h"
#include "geometry/vector.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <string>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

using NodePtr = std::shared_ptr<const ShapeNode>;

/// Lengths are of nanometres and of kilometres.
std::string in_digits(double x) { return fmt::format("{:.6g}", x); }

[[noreturn]] void refuse(const char* operation, const std::string& what) {
  throw Error(std::string("[") + operation + "] " + what);
}

void need_finite(const char* operation, const char* what, const Point& p) {
  for (double x : p)
    if (!std::isfinite(x))
      refuse(operation, std::string(what) + " must be finite, got " + in_digits(x));
}

void need_positive(const char* operation, const char* what, double x) {
  if (!(x > 0) || !std::isfinite(x))
    refuse(operation, std::string(what) + " must be positive and finite, got " + in_digits(x));
}

/// x without what is rounding alone beside `size`, as cos(pi/2) is: a body that is infinite along
/// one axis must not be so along others.
double unless_rounding(double x, double size) { return std::abs(x) < 1e-14 * size ? 0 : x; }

Point unit(const char* operation, const char* what, const Point& v) {
  need_finite(operation, what, v);
  const double length = norm(v);
  if (!(length > 0)) refuse(operation, std::string(what) + " has no direction: its length is zero");
  Point out = times(1 / length, v);
  for (double& x : out) x = unless_rounding(x, 1);
  return out;
}

Rotation transpose(const Rotation& r) {
  Rotation t;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) t[i][k] = r[k][i];
  return t;
}

Rotation product(const Rotation& a, const Rotation& b) {
  const Rotation columns = transpose(b);
  Rotation c;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      double terms = 0;  // which may cancel
      for (int j = 0; j < 3; ++j) terms += std::abs(a[i][j] * columns[k][j]);
      c[i][k] = unless_rounding(dot(a[i], columns[k]), terms);
    }
  return c;
}

Point turn(const Rotation& r, const Point& p) { return {dot(r[0], p), dot(r[1], p), dot(r[2], p)}; }

/// (x, y, z) -> the two axes after `axis` in cyclic order, then `axis`: exact for a coordinate
/// axis.
Rotation cyclic(int axis) {
  Rotation r{};
  for (int k = 0; k < 3; ++k) r[(axis + 1 + k) % 3][k] = 1;
  return r;
}

/// Some rotation that takes z to the unit vector w.
Rotation z_to(const Point& w) {
  for (int k = 0; k < 3; ++k)
    if (w[k] == 1) return cyclic(k);
  const int least = static_cast<int>(
      std::min_element(w.begin(), w.end(),
                       [](double a, double b) { return std::abs(a) < std::abs(b); }) -
      w.begin());
  Point u = times(-w[least], w);
  u[least] += 1;
  u = times(1 / norm(u), u);
  const Point v{w[1] * u[2] - w[2] * u[1], w[2] * u[0] - w[0] * u[2], w[0] * u[1] - w[1] * u[0]};
  return transpose({u, v, w});
}

/// The reach of a placed solid along each axis of space.
Bounds bounds_of(const Solid& solid, const Placement& at) {
  Bounds b;
  for (int k = 0; k < 3; ++k) {
    const Point v = at.forward[k];
    b.high[k] = at.origin[k] + std::visit([&](const auto& s) { return support(s, v); }, solid);
    b.low[k] =
        at.origin[k] - std::visit([&](const auto& s) { return support(s, times(-1, v)); }, solid);
  }
  return b;
}

Bounds bounds_of(ShapeKind kind, const std::vector<NodePtr>& parts) {
  const Bounds all{{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  if (kind == ShapeKind::complement) return all;
  const bool hull = kind == ShapeKind::unite;
  Bounds b = hull ? Bounds{all.high, all.low} : all;
  for (const NodePtr& part : parts)
    for (int k = 0; k < 3; ++k) {
      const double low = part->bounds.low[k], high = part->bounds.high[k];
      b.low[k] = hull ? std::min(b.low[k], low) : std::max(b.low[k], low);
      b.high[k] = hull ? std::max(b.high[k], high) : std::min(b.high[k], high);
    }
  return b;
}

Shape combine(ShapeKind kind, std::vector<NodePtr> parts) {
  auto node = std::make_shared<ShapeNode>();
  node->kind = kind;
  node->bounds = bounds_of(kind, parts);
  node->parts = std::move(parts);
  return Shape(node);
}

Placement turned(const Rotation& rotation, const Point& origin) {
  return {.forward = rotation, .inverse = transpose(rotation), .origin = origin};
}

std::vector<NodePtr> nodes(const std::vector<Shape>& shapes) {
  std::vector<NodePtr> out;
  for (const Shape& s : shapes) out.push_back(s.shared());
  return out;
}

/// The tree with `move` applied to the placement of every primitive.
template <class Move>
Shape moved(const Shape& shape, const Move& move) {
  const ShapeNode& node = shape.node();
  if (node.kind == ShapeKind::primitive) return primitive(node.solid, move(node.placement));
  std::vector<NodePtr> parts;
  for (const NodePtr& part : node.parts) parts.push_back(moved(Shape(part), move).shared());
  return combine(node.kind, std::move(parts));
}

}  // namespace

namespace detail {

Shape primitive(const Solid& solid, const Placement& at) {
  auto node = std::make_shared<ShapeNode>();
  node->kind = ShapeKind::primitive;
  const Mesh* mesh = std::get_if<Mesh>(&solid);
  const bool turned_mesh = mesh && at.forward != Placement{}.forward;
  node->solid = turned_mesh ? Solid(moved(*mesh, at.forward, at.origin)) : solid;
  node->placement = turned_mesh ? Placement{} : at;
  node->bounds = bounds_of(node->solid, node->placement);
  return Shape(node);
}

}  // namespace detail

Rotation rotation_about(const Point& axis, double angle_rad) {  // Rodrigues' formula
  const Point u = unit("rotation_about", "the axis", axis);
  const double c = std::cos(angle_rad), s = std::sin(angle_rad);
  const Rotation cross{{{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}}};
  Rotation r;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      r[i][k] = unless_rounding((i == k ? c : 0) + s * cross[i][k] + (1 - c) * u[i] * u[k], 1);
  return r;
}

Shape box(const Point& low, const Point& high) {
  for (int k = 0; k < 3; ++k)
    if (!(low[k] <= high[k]) || low[k] == INFINITY || high[k] == -INFINITY)
      refuse("box", "needs low <= high on each axis, got " + in_digits(low[k]) + " and " +
                        in_digits(high[k]) + " on axis " + std::to_string(k));
  return primitive(Block{low, high});
}

Shape half_space(const Point& on, const Point& outward) {
  need_finite("half_space", "the point", on);
  return primitive(HalfSpace{unit("half_space", "the normal", outward), 0}, {.origin = on});
}

Shape sphere(const Point& centre, double radius) {
  need_finite("sphere", "the centre", centre);
  need_positive("sphere", "the radius", radius);
  return primitive(Ball{radius}, {.origin = centre});
}

Shape ellipsoid(const Point& centre, const Point& semi_axes) {
  need_finite("ellipsoid", "the centre", centre);
  for (double a : semi_axes) need_positive("ellipsoid", "a semi-axis", a);
  return primitive(Ellipsoid{semi_axes}, {.origin = centre});
}

Shape cylinder(const Point& centre, double radius, double height, const Point& axis) {
  need_finite("cylinder", "the centre", centre);
  need_positive("cylinder", "the radius", radius);
  if (!(height > 0)) refuse("cylinder", "the height must be positive, got " + in_digits(height));
  return primitive(Frustum{radius, radius, height / 2},
                   turned(z_to(unit("cylinder", "the axis", axis)), centre));
}

Shape cone(const Point& centre, double radius_low, double radius_high, double height,
           const Point& axis) {
  need_finite("cone", "the centre", centre);
  need_positive("cone", "the height", height);
  need_positive("cone", "the larger radius", std::max(radius_low, radius_high));
  if (!(radius_low >= 0) || !(radius_high >= 0))
    refuse("cone", "radii are not negative, got " + in_digits(std::min(radius_low, radius_high)));
  return primitive(Frustum{radius_low, radius_high, height / 2},
                   turned(z_to(unit("cone", "the axis", axis)), centre));
}

Shape torus(const Point& centre, double radius, double tube_radius, const Point& axis) {
  need_finite("torus", "the centre", centre);
  need_positive("torus", "the radius", radius);
  need_positive("torus", "the radius of the tube", tube_radius);
  if (!(tube_radius < radius))
    refuse("torus", "the tube's radius, " + in_digits(tube_radius) +
                        ", is not below that of the ring, " + in_digits(radius));
  return primitive(Torus{radius, tube_radius},
                   turned(z_to(unit("torus", "the axis", axis)), centre));
}

Shape prism(const std::vector<std::array<double, 2>>& corners, double low, double high, int axis,
            double sidewall_rad) {
  return prism(sides_of_outline(simple_outline(corners, "prism")), low, high, axis, sidewall_rad);
}

Shape prism(std::shared_ptr<const data::SideTree> rim, double low, double high, int axis,
            double sidewall_rad) {
  if (axis < 0 || axis > 2) refuse("prism", "the axis is 0, 1 or 2, got " + std::to_string(axis));
  if (!(low < high))
    refuse("prism", "needs low < high, got " + in_digits(low) + " and " + in_digits(high));
  if (!(std::abs(sidewall_rad) < std::numbers::pi / 2))
    refuse("prism",
           "the sidewall angle lies between -pi/2 and pi/2, got " + in_digits(sidewall_rad));
  if (sidewall_rad != 0 && !(std::isfinite(low) && std::isfinite(high)))
    refuse("prism", "leaning walls need finite ends; give low and high");
  return primitive(Prism{std::move(rim), low, high, std::tan(sidewall_rad)},
                   turned(cyclic(axis), {0, 0, 0}));
}

Shape unite(const std::vector<Shape>& parts) { return combine(ShapeKind::unite, nodes(parts)); }

Shape intersect(const std::vector<Shape>& parts) {
  if (parts.empty()) refuse("intersect", "needs at least one shape, got none");
  return combine(ShapeKind::intersect, nodes(parts));
}

Shape subtract(const Shape& from, const Shape& what) { return intersect({from, complement(what)}); }

Shape complement(const Shape& shape) {
  if (shape.node().kind == ShapeKind::complement) return Shape(shape.node().parts[0]);
  return combine(ShapeKind::complement, {shape.shared()});
}

Shape translate(const Shape& shape, const Point& by) {
  need_finite("translate", "the shift", by);
  return moved(shape, [&](Placement at) {
    at.origin = plus(at.origin, by);
    return at;
  });
}

Shape rotate(const Shape& shape, const Rotation& matrix, const Point& about) {
  Rotation rotation = matrix;
  for (Point& row : rotation)
    for (double& x : row) x = unless_rounding(x, 1);
  const Rotation square = product(rotation, transpose(rotation));
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      if (!(std::abs(square[i][k] - (i == k)) < 1e-9))
        refuse("rotate", "the matrix is no rotation: R R^T differs from 1 by " +
                             in_digits(square[i][k] - (i == k)));
  return moved(shape, [&](Placement at) {
    at.forward = product(rotation, at.forward);
    at.inverse = product(at.inverse, transpose(rotation));
    at.origin = plus(turn(rotation, minus(at.origin, about)), about);
    return at;
  });
}

Shape scale(const Shape& shape, const Point& factors, const Point& about) {
  for (double f : factors) need_positive("scale", "a factor", f);
  return moved(shape, [&](Placement at) {
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) at.forward[i][k] *= factors[i], at.inverse[k][i] /= factors[i];
    for (int i = 0; i < 3; ++i) at.origin[i] = factors[i] * (at.origin[i] - about[i]) + about[i];
    at.least_stretch *= *std::min_element(factors.begin(), factors.end());
    return at;
  });
}

Shape scale(const Shape& shape, double factor, const Point& about) {
  return scale(shape, Point{factor, factor, factor}, about);
}

}  // namespace tessera::electromagnetics
