// SPDX-License-Identifier: Apache-2.0
//
// A ring of radius R about the z axis and a tube of radius r < R about it. With rho the distance
// from the axis,
//   d = sqrt((rho - R)^2 + z^2) - r,
// and the principal curvatures of the surface are 1/r about the tube and n_rho/(R + r n_rho) about
// the axis, n = ((rho - R) e_rho + z e_z)/(d + r), which is negative on the side of the hole.
#include "geometry/solids.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

struct TubePoint {
  Point radial;       // from the axis to q; x where q lies on it
  double in_r, in_z;  // components of the normal
  double distance;
};

TubePoint tube_point(const Torus& s, const Point& q) {
  const double rho = std::hypot(q[0], q[1]), out = rho - s.ring;
  const double from_ring = std::hypot(out, q[2]);
  const Point radial = rho > 0 ? Point{q[0] / rho, q[1] / rho, 0} : Point{1, 0, 0};
  return {radial, from_ring > 0 ? out / from_ring : 1, from_ring > 0 ? q[2] / from_ring : 0,
          from_ring - s.tube};
}

Point normal(const TubePoint& p) { return {p.in_r * p.radial[0], p.in_r * p.radial[1], p.in_z}; }

}  // namespace

bool contains(const Torus& s, const Point& q) {
  const TubePoint p = tube_point(s, q);
  return p.distance < 0 || (p.distance == 0 && holds_surface(normal(p)));
}

Distance distance(const Torus& s, const Point& q) {
  const TubePoint p = tube_point(s, q);
  return {p.distance, normal(p)};
}

void faces(const Torus& s, const Point& q, SolidFaces& out) {
  const TubePoint p = tube_point(s, q);
  const Point along{-p.radial[1], p.radial[0], 0};
  const Point about{-p.in_z * p.radial[0], -p.in_z * p.radial[1], p.in_r};
  const double foot_r = s.ring + s.tube * p.in_r, ring_curvature = p.in_r / foot_r;
  const double least = std::min(s.tube, p.in_r == 0 ? INFINITY : 1 / std::abs(ring_curvature));
  Face face{normal(p), p.distance, least / 2, false};
  for (int k = 0; k < 3; ++k)
    face.curvature[k] =
        plus(times(about[k] / s.tube, about), times(ring_curvature * along[k], along));
  out.add(face);
}

double support(const Torus& s, const Point& v) {
  return s.ring * std::hypot(v[0], v[1]) + s.tube * norm(v);
}

}  // namespace tessera::electromagnetics::detail
