// SPDX-License-Identifier: Apache-2.0
#include "geometry/scene_faces.h"

#include "geometry/mesh_body.h"
#include "geometry/mesh_faces.h"
#include "geometry/shape_node.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics::detail {
namespace {

Bounds common(const Bounds& a, const Bounds& b) {
  Bounds c;
  for (int k = 0; k < 3; ++k)
    c.low[k] = std::max(a.low[k], b.low[k]), c.high[k] = std::min(a.high[k], b.high[k]);
  return c;
}

/// The axis of space along which a primitive's own axis `k` runs, or -1: it is oblique.
int axis_along(const Placement& at, int k) {
  int axis = -1;
  double most = 0, rest = 0;
  for (int d = 0; d < 3; ++d)
    if (std::abs(at.forward[d][k]) > most) most = std::abs(at.forward[d][k]), axis = d;
  for (int d = 0; d < 3; ++d)
    if (d != axis) rest = std::max(rest, std::abs(at.forward[d][k]));
  return rest <= 1e-12 * most ? axis : -1;
}

class Collector {
 public:
  Collector(SceneFaces& out, const Bounds& domain) : out_(out), domain_(domain) {}

  void add(const ShapeNode& node, const Bounds& within, bool hollow, std::size_t structure) {
    within_ = common(within, domain_);
    structure_ = structure;
    walk(node, within_, hollow);
  }

 private:
  void walk(const ShapeNode& node, const Bounds& within, bool hollow) {
    const Bounds here = common(within, node.bounds);
    if (here.empty()) return;
    if (node.kind == ShapeKind::primitive) {
      out_.parts.push_back({here, hollow, structure_});
      primitive(node, within);
      return;
    }
    for (const auto& part : node.parts)
      walk(*part, node.kind == ShapeKind::complement ? within : here,
           hollow != (node.kind == ShapeKind::complement));
  }

  /// Both ends of a primitive along an axis.
  void ends(const ShapeNode& node, int axis, bool flat, const Bounds& within) {
    face(axis, node.bounds.low[axis], node.bounds, flat, within);
    face(axis, node.bounds.high[axis], node.bounds, flat, within);
  }

  void face(int axis, double at, const Bounds& extent, bool flat, const Bounds& within) {
    Bounds b = common(extent, within);
    if (!std::isfinite(at) || at < within.low[axis] || at > within.high[axis]) return;
    b.low[axis] = b.high[axis] = at;
    if (!b.empty()) out_.faces.push_back({axis, at, b, flat, structure_});
  }

  void primitive(const ShapeNode& node, const Bounds& within) {
    std::array<bool, 3> flat{};
    if (std::holds_alternative<Block>(node.solid)) {
      bool along = true;
      for (int k = 0; k < 3; ++k) along = along && axis_along(node.placement, k) >= 0;
      flat = {along, along, along};
    } else if (const auto* half = std::get_if<HalfSpace>(&node.solid)) {
      for (int k = 0; k < 3; ++k)
        if (std::abs(half->normal[k]) == 1 && axis_along(node.placement, k) >= 0)
          flat[axis_along(node.placement, k)] = true;
    } else if (std::holds_alternative<Frustum>(node.solid) ||
               std::holds_alternative<Prism>(node.solid)) {
      if (const int axis = axis_along(node.placement, 2); axis >= 0) flat[axis] = true;
    }
    for (int k = 0; k < 3; ++k) ends(node, k, flat[k], within);
    if (const auto* prism = std::get_if<Prism>(&node.solid)) walls(node, *prism, within);
    if (const auto* mesh = std::get_if<Mesh>(&node.solid))
      for (const MeshFace& f : flat_faces(*mesh->body, node.placement))
        face(f.axis, f.at, f.extent, true, within);
  }

  /// Upright walls of a prism that lie along the grid.
  void walls(const ShapeNode& node, const Prism& prism, const Bounds& within) {
    const Placement& at = node.placement;
    const std::array<int, 2> axes{axis_along(at, 0), axis_along(at, 1)};
    if (prism.slope != 0 || axes[0] < 0 || axes[1] < 0 || axis_along(at, 2) < 0) return;
    for (const data::Side& side : prism.sides->sides()) {
      const auto &from = side.from, &to = side.to;
      for (std::size_t k : {0u, 1u}) {
        if (from[k] != to[k]) continue;
        const auto axis = static_cast<std::size_t>(axes[k]),
                   other = static_cast<std::size_t>(axes[1 - k]);
        const auto place = [&](std::size_t d, std::size_t own, double x) {
          return at.forward[d][own] * x + at.origin[d];
        };
        Bounds wall = node.bounds;
        const double a = place(other, 1 - k, from[1 - k]), b = place(other, 1 - k, to[1 - k]);
        wall.low[other] = std::min(a, b), wall.high[other] = std::max(a, b);
        face(static_cast<int>(axis), place(axis, k, from[k]), wall, true, within);
      }
    }
  }

  SceneFaces& out_;
  Bounds domain_, within_{};
  std::size_t structure_ = 0;
};

}  // namespace

SceneFaces scene_faces(const Scene& scene, const Bounds& domain) {
  SceneFaces out;
  Collector all(out, domain);
  for (std::size_t s = 0; s < scene.structures.size(); ++s)
    all.add(scene.structures[s].shape.node(), domain, false, s);
  return out;
}

}  // namespace tessera::electromagnetics::detail
