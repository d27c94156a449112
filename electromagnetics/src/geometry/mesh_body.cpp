// SPDX-License-Identifier: Apache-2.0
#include "geometry/mesh_body.h"

#include "geometry/solids.h"
#include "geometry/vector.h"

namespace tessera::electromagnetics::detail {

bool MeshBody::contains(const Point& q) const {
  const TriangleTree& counted = shells.empty() ? surface : shells;
  const Bounds& b = counted.bounds();
  for (int k = 0; k < 3; ++k)
    if (q[k] < b.low[k] || q[k] > b.high[k]) return false;
  const int winding = counted.winding(q);
  return caps.empty() ? winding > 0 : winding - caps.winding(q) > 0.5;
}

std::shared_ptr<const MeshBody> mesh_body(const std::vector<Triangle>& surface,
                                          const std::vector<Triangle>& shells,
                                          const std::vector<Triangle>& caps, bool closed) {
  auto body = std::make_shared<MeshBody>();
  body->surface = TriangleTree(surface);
  for (const Triangle& t : body->surface.triangles()) {
    const Point n = area_vector(t);
    body->normals.push_back(times(1 / norm(n), n));
  }
  body->shells = TriangleTree(shells);
  body->caps = SolidAngles(caps);
  body->closed = closed;
  return body;
}

Mesh moved(const Mesh& mesh, const Rotation& turn, const Point& by) {
  const auto all = [&](const std::vector<Triangle>& from) {
    std::vector<Triangle> out = from;
    for (Triangle& t : out)
      for (Point& p : t) p = plus(Point{dot(turn[0], p), dot(turn[1], p), dot(turn[2], p)}, by);
    return out;
  };
  const MeshBody& b = *mesh.body;
  return {mesh_body(all(b.surface.triangles()), all(b.shells.triangles()), all(b.caps.triangles()),
                    b.closed)};
}

bool contains(const Mesh& s, const Point& q) { return s.body->contains(q); }

Distance distance(const Mesh& s, const Point& q) {
  const TriangleTree::Nearest near = s.body->surface.nearest(q);
  const Point off = minus(q, near.foot), &n = s.body->normals[near.at];
  const double d = std::sqrt(near.d2), rounding = 1e-14 * (norm(q) + norm(near.foot));
  // Straight in front of a triangle or behind it its normal tells the side.
  const double before = dot(off, n);
  const bool straight = s.body->closed && std::abs(before) > (1 - 1e-12) * d && d > 1e3 * rounding;
  const double sign = (straight ? before < 0 : contains(s, q)) ? -1 : 1;
  return {sign * d, d > rounding ? times(sign / d, off) : n};
}

double clearance(const Mesh& s, const Point& q) {
  return contains(s, q) ? -s.body->surface.at_least(q) : s.body->surface.at_least(q);
}

double support(const Mesh& s, const Point& v) {
  double most = -INFINITY;
  for (const Triangle& t : s.body->surface.triangles())
    for (const Point& p : t) most = std::max(most, dot(v, p));
  return most;
}

}  // namespace tessera::electromagnetics::detail
