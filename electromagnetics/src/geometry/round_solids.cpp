// SPDX-License-Identifier: Apache-2.0
//
// Sphere, ellipsoid and frustum. A tangent plane stands for a curved face within half its smallest
// radius of curvature.
#include "geometry/solids.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

/// P D P with P = 1 - n n^T and D diagonal.
Rotation tangential(const Point& n, const Point& diagonal) {
  Rotation out{};
  for (int k = 0; k < 3; ++k) {
    Point column = times(-n[k], n);
    column[k] += 1;
    for (int i = 0; i < 3; ++i) out[i] = plus(out[i], times(diagonal[k] * column[i], column));
  }
  return out;
}

}  // namespace

// ---- sphere

bool contains(const Ball& s, const Point& q) {
  const double excess = dot(q, q) - s.radius * s.radius;
  return excess < 0 || (excess == 0 && holds_surface(q));
}

Distance distance(const Ball& s, const Point& q) {
  const double r = norm(q);
  return {r - s.radius, r > 0 ? times(1 / r, q) : Point{1, 0, 0}};
}

void faces(const Ball& s, const Point& q, SolidFaces& out) {
  const Distance d = distance(s, q);
  const double c = 1 / s.radius;
  out.add({d.gradient, d.value, s.radius / 2, false, tangential(d.gradient, {c, c, c})});
}

double support(const Ball& s, const Point& v) { return s.radius * norm(v); }

// ---- ellipsoid, sum (x_i/a_i)^2 = 1

namespace {

/// The nearest point of the surface to q (all q_i >= 0): x_i = a_i^2 q_i/(t + a_i^2), where t is
/// the largest root of F(t) = sum (a_i q_i/(t + a_i^2))^2 - 1. Right of -min a^2, F falls and is
/// convex, so Newton's method from a point with F >= 0 rises to the root and does not pass it (D.
/// Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid, 2013).
Point nearest_on_ellipsoid(const Point& a, const Point& q) {
  const int least = static_cast<int>(std::min_element(a.begin(), a.end()) - a.begin());
  const double pole = a[least] * a[least];
  Point x{};
  if (q[least] ==
      0) {  // maybe inside the evolute, where the term of the shortest axis has vanished
    double rest = 1;
    for (int k = 0; k < 3; ++k) {
      const double gap = a[k] * a[k] - pole;
      if (k == least || q[k] == 0) continue;
      if (gap == 0) {
        rest = -1;
        break;
      }
      x[k] = a[k] * a[k] * q[k] / gap;
      rest -= x[k] * x[k] / (a[k] * a[k]);
    }
    if (rest >= 0) {
      x[least] = a[least] * std::sqrt(rest);
      return x;
    }
  }
  double t = -INFINITY;  // where one term alone is 1
  for (int k = 0; k < 3; ++k)
    if (q[k] > 0) t = std::max(t, a[k] * q[k] - a[k] * a[k]);
  for (int iteration = 0; iteration < 100; ++iteration) {
    double f = -1, derivative = 0;
    for (int k = 0; k < 3; ++k) {
      const double w = t + a[k] * a[k], term = q[k] > 0 ? a[k] * q[k] / w : 0;
      f += term * term;
      derivative -= term > 0 ? 2 * term * term / w : 0;
    }
    const double next = t - f / derivative;
    if (!(next > t)) break;
    t = next;
  }
  for (int k = 0; k < 3; ++k) x[k] = q[k] > 0 ? a[k] * a[k] * q[k] / (t + a[k] * a[k]) : 0;
  return x;
}

struct Foot {
  Point normal;
  double distance;
  double steepness;  // |(x_i/a_i^2)|
};

Foot foot_on_ellipsoid(const Ellipsoid& s, const Point& q) {
  const Point& a = s.semi_axes;
  const Point x = nearest_on_ellipsoid(a, {std::abs(q[0]), std::abs(q[1]), std::abs(q[2])});
  Point n, offset;
  double level = -1;
  for (int k = 0; k < 3; ++k) {
    n[k] = std::copysign(x[k] / (a[k] * a[k]), q[k]);
    offset[k] = q[k] - std::copysign(x[k], q[k]);
    level += q[k] * q[k] / (a[k] * a[k]);
  }
  const double steepness = norm(n);
  return {times(1 / steepness, n), std::copysign(norm(offset), level), steepness};
}

}  // namespace

bool contains(const Ellipsoid& s, const Point& q) {
  double level = -1;
  Point outward;
  for (int k = 0; k < 3; ++k) {
    outward[k] = q[k] / (s.semi_axes[k] * s.semi_axes[k]);
    level += outward[k] * q[k];
  }
  return level < 0 || (level == 0 && holds_surface(outward));
}

Distance distance(const Ellipsoid& s, const Point& q) {
  const Foot foot = foot_on_ellipsoid(s, q);
  return {foot.distance, foot.normal};
}

void faces(const Ellipsoid& s, const Point& q, SolidFaces& out) {
  const Foot foot = foot_on_ellipsoid(s, q);
  // The curvature is at most max(1/a_i^2) / |x_i/a_i^2|.
  const double least = *std::min_element(s.semi_axes.begin(), s.semi_axes.end());
  Point d;
  for (int k = 0; k < 3; ++k) d[k] = 1 / (s.semi_axes[k] * s.semi_axes[k] * foot.steepness);
  out.add({foot.normal, foot.distance, least * least * foot.steepness / 2, false,
           tangential(foot.normal, d)});
}

double support(const Ellipsoid& s, const Point& v) {
  return norm({s.semi_axes[0] * v[0], s.semi_axes[1] * v[1], s.semi_axes[2] * v[2]});
}

// ---- frustum: in (r, z) a trapezoid, rotated

namespace {

/// The sloping side in the half-plane r >= 0: outward normal (r, z) and distance of the line.
struct Side {
  double normal_r, normal_z;
  double distance(const Frustum& s, double r, double z) const {
    return normal_z == 0 ? r - s.radius_low
                         : (r - s.radius_low) * normal_r + (z + s.half_height) * normal_z;
  }
};

Side side_of(const Frustum& s) {
  if (s.radius_low == s.radius_high) return {1, 0};
  const double length = std::hypot(2 * s.half_height, s.radius_high - s.radius_low);
  return {2 * s.half_height / length, (s.radius_low - s.radius_high) / length};
}

Point around(const Point& q, double r, double in_r, double in_z) {
  return r > 0 ? Point{in_r * q[0] / r, in_r * q[1] / r, in_z} : Point{in_r, 0, in_z};
}

}  // namespace

bool contains(const Frustum& s, const Point& q) {
  if (!(q[2] >= -s.half_height && q[2] < s.half_height)) return false;
  const Side side = side_of(s);
  const double r2 = q[0] * q[0] + q[1] * q[1], r = std::sqrt(r2);
  const double d =
      side.normal_z == 0 ? r2 - s.radius_low * s.radius_low : side.distance(s, r, q[2]);
  return d < 0 || (d == 0 && holds_surface(around(q, r, side.normal_r, side.normal_z)));
}

Distance distance(const Frustum& s, const Point& q) {
  const double r = std::hypot(q[0], q[1]), z = q[2], h = s.half_height;
  const Side side = side_of(s);
  const double to_side = side.distance(s, r, z), to_cap = std::abs(z) - h;
  const double up = z < 0 ? -1 : 1;
  if (to_side <= 0 && to_cap <= 0)
    return to_side >= to_cap ? Distance{to_side, around(q, r, side.normal_r, side.normal_z)}
                             : Distance{to_cap, {0, 0, up}};
  if (std::isinf(h)) return {to_side, around(q, r, 1, 0)};
  // Outside a convex figure: the foot lies on a cap, on the side, or is one of its two ends.
  if (to_cap > 0 && r <= (z < 0 ? s.radius_low : s.radius_high)) return {to_cap, {0, 0, up}};
  const double run = s.radius_high - s.radius_low;
  const double along = ((r - s.radius_low) * run + (z + h) * 2 * h) / (run * run + 4 * h * h);
  if (along >= 0 && along <= 1) return {to_side, around(q, r, side.normal_r, side.normal_z)};
  const double from_r = r - (along < 0 ? s.radius_low : s.radius_high),
               from_z = z - (along < 0 ? -h : h);
  const double d = std::hypot(from_r, from_z);
  return {d, around(q, r, from_r / d, from_z / d)};
}

void faces(const Frustum& s, const Point& q, SolidFaces& out) {
  const double r = std::hypot(q[0], q[1]), z = q[2];
  const Side side = side_of(s);
  const double to_side = side.distance(s, r, z);
  if (std::isfinite(s.half_height)) {
    out.add({{0, 0, -1}, -s.half_height - z, INFINITY});
    out.add({{0, 0, 1}, z - s.half_height, INFINITY});
  }
  // Radius of curvature at the foot: its distance from the axis along the normal.
  const double foot_r = std::max(r - to_side * side.normal_r, 0.0);
  const Point radial = around(q, r, 1, 0), turning{-radial[1], radial[0], 0};
  Face face{around(q, r, side.normal_r, side.normal_z), to_side, foot_r / side.normal_r / 2,
            foot_r == 0};
  if (foot_r > 0)
    for (int k = 0; k < 3; ++k)
      face.curvature[k] = times(side.normal_r / foot_r * turning[k], turning);
  out.add(face);
}

double support(const Frustum& s, const Point& v) {
  const double across = std::hypot(v[0], v[1]);
  const double lift = v[2] == 0 ? 0 : v[2] * s.half_height;
  return std::max(across * s.radius_low - lift, across * s.radius_high + lift);
}

}  // namespace tessera::electromagnetics::detail
