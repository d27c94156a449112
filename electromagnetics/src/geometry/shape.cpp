// SPDX-License-Identifier: Apache-2.0
#include "geometry/shape_node.h"
#include "geometry/vector.h"
#include "tessera/electromagnetics/geometry.h"

#include <algorithm>
#include <type_traits>

namespace tessera::electromagnetics {
namespace detail {
namespace {

Point local(const Placement& at, const Point& p) {
  const Point r = minus(p, at.origin);
  return {dot(at.inverse[0], r), dot(at.inverse[1], r), dot(at.inverse[2], r)};
}

/// inverse^T g: a gradient in the primitive's axes, in space.
Point gradient_in_space(const Placement& at, const Point& g) {
  Point out;
  for (int k = 0; k < 3; ++k)
    out[k] = at.inverse[0][k] * g[0] + at.inverse[1][k] * g[1] + at.inverse[2][k] * g[2];
  return out;
}

}  // namespace

bool contains(const ShapeNode& node, const Point& p) {
  const auto holds = [&](const auto& part) { return contains(*part, p); };
  switch (node.kind) {
    case ShapeKind::unite:
      return std::any_of(node.parts.begin(), node.parts.end(), holds);
    case ShapeKind::intersect:
      return std::all_of(node.parts.begin(), node.parts.end(), holds);
    case ShapeKind::complement:
      return !holds(node.parts[0]);
    case ShapeKind::primitive:
      break;
  }
  const Point q = local(node.placement, p);
  return std::visit([&](const auto& solid) { return detail::contains(solid, q); }, node.solid);
}

Distance distance(const ShapeNode& node, const Point& p) {
  if (node.kind == ShapeKind::primitive) {
    const Point q = local(node.placement, p);
    const Distance d =
        std::visit([&](const auto& s) { return detail::distance(s, q); }, node.solid);
    const Point g = gradient_in_space(node.placement, d.gradient);
    const double length = norm(g);
    return {d.value / length, times(1 / length, g)};
  }
  if (node.kind == ShapeKind::complement) {
    const Distance d = distance(*node.parts[0], p);
    return {-d.value, times(-1, d.gradient)};
  }
  const double sign = node.kind == ShapeKind::unite ? 1 : -1;  // the least, or the largest
  Distance best{sign * INFINITY, {}};
  for (const auto& part : node.parts) {
    const Distance d = distance(*part, p);
    if (sign * d.value < sign * best.value) best = d;
  }
  return best;
}

double clearance(const ShapeNode& node, const Point& p) {
  if (node.kind == ShapeKind::primitive) {
    const Point q = local(node.placement, p);
    if (const Mesh* mesh = std::get_if<Mesh>(&node.solid)) return clearance(*mesh, q);
    return node.placement.least_stretch *
           std::visit([&](const auto& s) { return detail::distance(s, q).value; }, node.solid);
  }
  if (node.kind == ShapeKind::complement) return -clearance(*node.parts[0], p);
  const double sign = node.kind == ShapeKind::unite ? 1 : -1;
  double best = sign * INFINITY;
  for (const auto& part : node.parts) {
    const double d = clearance(*part, p);
    if (sign * d < sign * best) best = d;
  }
  return best;
}

SolidFaces faces(const ShapeNode& primitive, const Point& p) {
  const Placement& at = primitive.placement;
  SolidFaces found;
  const Point q = local(at, p);
  std::visit(
      [&](const auto& solid) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(solid)>, Mesh>)
          detail::faces(solid, q, found);
      },
      primitive.solid);
  for (int i = 0; i < found.n; ++i) {
    Face& face = found.at[i];
    const Point g = gradient_in_space(at, face.normal);
    const double length = norm(g);
    face.normal = times(1 / length, g);
    face.distance /= length;
    face.reach *= at.least_stretch;
    if (face.flat) continue;
    Rotation half;  // inverse^T curvature inverse
    for (int k = 0; k < 3; ++k) half[k] = gradient_in_space(at, face.curvature[k]);
    for (int k = 0; k < 3; ++k) {
      const Point column = gradient_in_space(at, {half[0][k], half[1][k], half[2][k]});
      for (int j = 0; j < 3; ++j) face.curvature[j][k] = column[j] / length;
    }
  }
  return found;
}

}  // namespace detail

Shape::Shape() {
  static const auto empty = [] {
    auto node = std::make_shared<detail::ShapeNode>();
    node->bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    return node;
  }();
  node_ = empty;
}

bool Shape::contains(const Point& p) const { return detail::contains(*node_, p); }
double Shape::signed_distance(const Point& p) const { return detail::distance(*node_, p).value; }
Point Shape::normal(const Point& p) const { return detail::distance(*node_, p).gradient; }
const Bounds& Shape::bounds() const { return node_->bounds; }

}  // namespace tessera::electromagnetics
