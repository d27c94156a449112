// SPDX-License-Identifier: Apache-2.0
//
// In the axes of a primitive the line is p + t v; planes and quadrics give t by equations of first
// and second degree.
#include "geometry/crossings.h"

#include "geometry/vector.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics::detail {
namespace {

struct StraightLine {
  Point p, v;
};

class CrossingList {
 public:
  explicit CrossingList(std::vector<double>& out) : out_(out) {}
  void add(double t) {
    if (t > -0.01 && t < 1.01) out_.push_back(t);
  }
  /// a + b t = 0
  void linear(double a, double b) {
    if (b != 0) add(-a / b);
  }
  /// a t^2 + 2 b t + c = 0
  void quadratic(double a, double b, double c) {
    if (a == 0) return linear(c, 2 * b);
    const double root = b * b - a * c;
    if (!(root >= 0)) return;
    const double q = -(b + std::copysign(std::sqrt(root), b));
    add(q / a);
    if (q != 0) add(c / q);
  }

 private:
  std::vector<double>& out_;
};

void meet(const HalfSpace& s, const StraightLine& l, CrossingList& out) {
  out.linear(dot(s.normal, l.p) - s.offset, dot(s.normal, l.v));
}

void meet(const Block& s, const StraightLine& l, CrossingList& out) {
  for (int k = 0; k < 3; ++k)
    for (const double at : {s.low[k], s.high[k]})
      if (std::isfinite(at)) out.linear(l.p[k] - at, l.v[k]);
}

void meet(const Ball& s, const StraightLine& l, CrossingList& out) {
  out.quadratic(dot(l.v, l.v), dot(l.p, l.v), dot(l.p, l.p) - s.radius * s.radius);
}

void meet(const Ellipsoid& s, const StraightLine& l, CrossingList& out) {
  StraightLine scaled;
  for (int k = 0; k < 3; ++k)
    scaled.p[k] = l.p[k] / s.semi_axes[k], scaled.v[k] = l.v[k] / s.semi_axes[k];
  meet(Ball{1}, scaled, out);
}

/// Its radius at z is middle + slope z.
void meet(const Frustum& s, const StraightLine& l, CrossingList& out) {
  const double h = s.half_height;
  if (std::isfinite(h))
    for (const double end : {-h, h}) out.linear(l.p[2] - end, l.v[2]);
  const double slope = s.radius_low == s.radius_high ? 0 : (s.radius_high - s.radius_low) / (2 * h);
  const double r = (s.radius_low + s.radius_high) / 2 + slope * l.p[2], rise = slope * l.v[2];
  out.quadratic(l.v[0] * l.v[0] + l.v[1] * l.v[1] - rise * rise,
                l.p[0] * l.v[0] + l.p[1] * l.v[1] - r * rise,
                l.p[0] * l.p[0] + l.p[1] * l.p[1] - r * r);
}

/// The walls lean: at the height z the outline has moved inwards by lean = slope (z - low). Sides
/// stay planes; about its corners the distance from the outline is round, and walls are cones.
void meet(const Prism& s, const StraightLine& l, CrossingList& out) {
  for (const double end : {s.low, s.high})
    if (std::isfinite(end)) out.linear(l.p[2] - end, l.v[2]);
  const double lean = s.slope == 0 ? 0 : s.slope * (l.p[2] - s.low), rise = s.slope * l.v[2];
  for (std::size_t i = 0; i < s.corners.size(); ++i) {
    const auto &a = s.corners[i], &b = s.corners[(i + 1) % s.corners.size()];
    const double side[2] = {b[0] - a[0], b[1] - a[1]}, length = std::hypot(side[0], side[1]);
    const double from[2] = {l.p[0] - a[0], l.p[1] - a[1]};
    out.linear((from[0] * side[1] - from[1] * side[0]) / length + lean,
               (l.v[0] * side[1] - l.v[1] * side[0]) / length + rise);
    if (s.slope != 0)
      out.quadratic(l.v[0] * l.v[0] + l.v[1] * l.v[1] - rise * rise,
                    from[0] * l.v[0] + from[1] * l.v[1] - lean * rise,
                    from[0] * from[0] + from[1] * from[1] - lean * lean);
  }
}

}  // namespace

void add_crossings(const ShapeNode& shape, const Point& from, const Point& to,
                   std::vector<double>& out) {
  const double length = norm(minus(to, from));
  for (int k = 0; k < 3; ++k)
    if (std::max(from[k], to[k]) < shape.bounds.low[k] - length ||
        std::min(from[k], to[k]) > shape.bounds.high[k] + length)
      return;
  if (shape.kind != ShapeKind::primitive) {
    for (const auto& part : shape.parts) add_crossings(*part, from, to, out);
    return;
  }
  const Placement& at = shape.placement;
  const Point r = minus(from, at.origin), v = minus(to, from);
  StraightLine line;
  for (int k = 0; k < 3; ++k) line.p[k] = dot(at.inverse[k], r), line.v[k] = dot(at.inverse[k], v);
  CrossingList list(out);
  std::visit([&](const auto& solid) { meet(solid, line, list); }, shape.solid);
}

}  // namespace tessera::electromagnetics::detail
