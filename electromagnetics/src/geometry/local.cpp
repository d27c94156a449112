// SPDX-License-Identifier: Apache-2.0
//
// Combinations follow probabilities: all of several independent parts f = prod f_i, not a part 1 -
// f, one of several by De Morgan. Parallel planes are no independent events; they are merged first.
#include "geometry/local.h"

#include "geometry/mesh_fill.h"
#include "geometry/plane_cut.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

using Kind = Local::Kind;

Local outside() { return {.kind = Kind::outside, .fraction = 0}; }

double fraction_of(const Local& layer, const Box& box) {
  return (std::isinf(layer.high) ? 1 : cut(layer.normal, layer.high, box).fraction) -
         (std::isinf(layer.low) ? 0 : cut(layer.normal, layer.low, box).fraction);
}

/// Narrows `layer` to what lies in the parallel `other` too; false if nothing is left.
bool narrow(Local& layer, const Local& other, const Box& box) {
  const bool same = dot(layer.normal, other.normal) > 0;
  layer.low = std::max(layer.low, same ? other.low : -other.high);
  layer.high = std::min(layer.high, same ? other.high : -other.low);
  return layer.high - layer.low > touching * width_along(layer.normal, box);
}

Local all_of(std::vector<Local>& parts, const Box& box) {
  std::vector<Local> factors;
  for (Local& part : parts) {
    if (part.kind == Kind::outside) return outside();
    if (part.kind == Kind::inside) continue;
    const auto same = std::find_if(factors.begin(), factors.end(), [&](const Local& f) {
      return f.kind == Kind::layer && part.kind == Kind::layer &&
             are_parallel(f.normal, part.normal);
    });
    if (same == factors.end())
      factors.push_back(std::move(part));
    else if (!narrow(*same, part, box))
      return outside();
  }
  for (Local& f : factors)
    if (f.kind == Kind::layer) f.fraction = fraction_of(f, box);
  if (factors.empty()) return {};
  if (factors.size() == 1) return std::move(factors[0]);
  Local out{.kind = Kind::mixed};
  for (const Local& f : factors) out.fraction *= f.fraction;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    double others = 1;
    for (std::size_t j = 0; j < factors.size(); ++j)
      if (j != i) others *= factors[j].fraction;
    for (Piece piece : pieces_of(factors[i], box)) {
      piece.area *= others;
      out.pieces.push_back(piece);
    }
  }
  return out;
}

Local opposite(Local part, const Box& box) {
  part.fraction = 1 - part.fraction;
  switch (part.kind) {
    case Kind::outside:
      return {};
    case Kind::inside:
      return outside();
    case Kind::layer:
      if (std::isinf(part.low) || std::isinf(part.high)) {
        const double low = part.low;
        part.low = std::isinf(part.high) ? -INFINITY : part.high;
        part.high = std::isinf(low) ? INFINITY : low;
        return part;
      }
      part.pieces = pieces_of(part, box);
      part.kind = Kind::mixed;
      break;
    case Kind::mixed:
      break;
  }
  for (Piece& piece : part.pieces)
    piece.normal = times(-1, piece.normal), piece.offset = -piece.offset;
  return part;
}

/// How far a curved face lies behind its tangent plane n . x = offset on the average over the box:
/// with x^T B x / 2 behind it at x, and the mean of x x^T over all points of the plane in the box
/// that of the box itself, diag(size^2)/12, it is the sum of (P B P)_kk size_k^2/24, P = 1 - n n^T.
/// Without it every convex shape would be too large, a sphere of radius R by h^2/(4 R^2) of its
/// volume.
double sagitta(const Rotation& curvature, const Point& n, const Point& size) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    Point p = times(-n[k], n);
    p[k] += 1;
    const Point row{dot(curvature[0], p), dot(curvature[1], p), dot(curvature[2], p)};
    sum += size[k] * size[k] / 24 * dot(p, row);
  }
  return sum;
}

/// One face as a plane. On an axis of no thickness only the section counts.
Local behind(const Face& face, const Box& box) {
  Point n = face.normal;
  for (int k = 0; k < 3; ++k)
    if (box.size[k] == 0) n[k] = 0;
  const double length = norm(n);
  if (length == 0)
    return cut_box(face.normal, -face.distance, {0, 0, 0}).fraction > 0 ? Local{} : outside();
  n = times(1 / length, n);
  const bool too_curved = box.radius() > face.reach;
  const double back = face.flat || too_curved ? 0 : sagitta(face.curvature, n, box.size);
  const double offset = -(face.distance + back) / length;
  const PlaneCut behind_it = cut(n, offset, box);
  if (too_curved) {
    Local out{.kind = Kind::mixed, .fraction = behind_it.fraction};
    if (behind_it.area > 0) out.pieces = {{n, offset, behind_it.area}};
    return out;
  }
  if (behind_it.fraction == 0) return outside();
  if (behind_it.fraction == 1) return {};
  return {.kind = Kind::layer,
          .fraction = behind_it.fraction,
          .normal = n,
          .low = -INFINITY,
          .high = offset};
}

/// What counts of the box is all that a mesh is cut by.
Local mesh_local(const MeshBody& body, const Point& origin, const Box& box) {
  const Box counted = box.counted();
  Local out = local_mesh(body, {.centre = minus(counted.centre, origin),
                                .size = counted.size,
                                .mirrored = counted.mirrored});
  const Point moved = minus(counted.centre, box.centre);
  for (Piece& piece : out.pieces) piece.offset += dot(piece.normal, moved);
  if (out.kind == Kind::layer)
    out.low += dot(out.normal, moved), out.high += dot(out.normal, moved);
  return out;
}

Local local_primitive(const ShapeNode& node, const Box& box) {
  const double radius = box.radius(), clear = clearance(node, box.centre);
  if (clear > radius) return outside();
  if (clear < -1.2 * radius)
    return {};  // a face stands back by at most radius / 6 within its reach
  if (const Mesh* mesh = std::get_if<Mesh>(&node.solid))
    return mesh_local(*mesh->body, node.placement.origin, box);
  const SolidFaces near = faces(node, box.centre);
  std::vector<Local> parts;
  for (int i = 0; i < near.n; ++i) {
    Local part = behind(near.at[i], box);
    if (part.kind == Kind::outside) return part;
    if (part.kind != Kind::inside) parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return std::move(parts[0]);
  return all_of(parts, box);
}

}  // namespace

double Box::radius() const { return norm(size) / 2; }

bool Box::is_part() const {
  for (int k = 0; k < 3; ++k)
    if (std::isfinite(from[k]) || std::isfinite(to[k])) return true;
  return false;
}

Box Box::counted() const {
  Box out{centre, size};
  for (int k = 0; k < 3; ++k) {
    const double low = centre[k] - size[k] / 2, high = centre[k] + size[k] / 2;
    if (!(from[k] > low || to[k] < high)) continue;
    const double a = std::max(low, from[k]), b = std::min(high, to[k]);
    out.centre[k] = (a + b) / 2, out.size[k] = b - a;
    out.mirrored[static_cast<std::size_t>(k)] = mirrored[static_cast<std::size_t>(k)];
  }
  return out;
}

PlaneCut cut(const Point& normal, double offset, const Box& box) {
  const Box counted = box.counted();
  return cut_box(normal, offset - dot(normal, minus(counted.centre, box.centre)), counted.size);
}

double width_along(const Point& n, const Box& box) {
  return std::abs(n[0]) * box.size[0] + std::abs(n[1]) * box.size[1] + std::abs(n[2]) * box.size[2];
}

bool are_parallel(const Point& n, const Point& m) { return std::abs(dot(n, m)) > 1 - 1e-13; }

std::vector<Piece> pieces_of(const Local& local, const Box& box) {
  if (local.kind != Kind::layer) return local.pieces;
  std::vector<Piece> out;
  const auto add = [&](const Point& normal, double offset) {
    if (std::isfinite(offset)) out.push_back({normal, offset, cut(normal, offset, box).area});
  };
  add(local.normal, local.high);
  add(times(-1, local.normal), -local.low);
  return out;
}

Local local(const ShapeNode& node, const Box& box) {
  for (int k = 0; k < 3; ++k)
    if (node.bounds.low[k] > box.centre[k] + box.size[k] / 2 ||
        node.bounds.high[k] < box.centre[k] - box.size[k] / 2)
      return outside();
  switch (node.kind) {
    case ShapeKind::primitive:
      return local_primitive(node, box);
    case ShapeKind::complement:
      return opposite(local(*node.parts[0], box), box);
    case ShapeKind::intersect:
    case ShapeKind::unite:
      break;
  }
  const bool any = node.kind == ShapeKind::unite;
  std::vector<Local> parts;
  for (const auto& part : node.parts) {
    Local l = local(*part, box);
    if (l.kind == (any ? Kind::inside : Kind::outside)) return l;
    if (l.kind == (any ? Kind::outside : Kind::inside)) continue;
    parts.push_back(any ? opposite(std::move(l), box) : std::move(l));
  }
  Local out = all_of(parts, box);
  return any ? opposite(std::move(out), box) : out;
}

}  // namespace tessera::electromagnetics::detail
