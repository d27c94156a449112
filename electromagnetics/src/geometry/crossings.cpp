// SPDX-License-Identifier: Apache-2.0
//
// In the axes of a primitive the line is p + t v; planes and quadrics give t by equations of first
// and second degree, a torus by one of the fourth.
#include "geometry/crossings.h"

#include "geometry/mesh_body.h"
#include "geometry/vector.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::electromagnetics::detail {
namespace {

struct StraightLine {
  Point p, v;
};

constexpr double first_t = -0.01, last_t = 1.01;

template <std::size_t N>
double value_at(const std::array<double, N>& c, double t) {
  double sum = 0;
  for (std::size_t k = N; k-- > 0;) sum = sum * t + c[k];
  return sum;
}

/// Zeros of sum c[k] t^k from first_t to last_t: between those of its derivative it is monotone. A
/// double one, where the line touches and does not cross, may be left out.
template <std::size_t N>
std::vector<double> zeros(const std::array<double, N>& c) {
  std::vector<double> ends{first_t}, out;
  if constexpr (N > 2) {
    std::array<double, N - 1> derivative;
    for (std::size_t k = 1; k < N; ++k) derivative[k - 1] = static_cast<double>(k) * c[k];
    for (const double t : zeros(derivative)) ends.push_back(t);
  }
  ends.push_back(last_t);
  for (std::size_t n = 0; n + 1 < ends.size(); ++n) {
    double low = ends[n], high = ends[n + 1];
    const bool rises = value_at(c, low) < value_at(c, high);
    if ((value_at(c, low) > 0) == (value_at(c, high) > 0)) continue;
    for (int halving = 0; halving < 60 && high - low > 1e-16; ++halving) {
      const double middle = (low + high) / 2;
      ((value_at(c, middle) > 0) == rises ? high : low) = middle;
    }
    out.push_back((low + high) / 2);
  }
  return out;
}

class CrossingList {
 public:
  explicit CrossingList(std::vector<double>& out) : out_(out) {}
  void add(double t) {
    if (t > first_t && t < last_t) out_.push_back(t);
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

/// (|q|^2 + R^2 - r^2)^2 = 4 R^2 rho^2, in units of R.
void meet(const Torus& s, const StraightLine& l, CrossingList& out) {
  const Point p = times(1 / s.ring, l.p), v = times(1 / s.ring, l.v);
  const double tube = s.tube / s.ring;
  const double a = dot(v, v), b = 2 * dot(p, v), c = dot(p, p) + 1 - tube * tube;
  const double rho2[3] = {p[0] * p[0] + p[1] * p[1], 2 * (p[0] * v[0] + p[1] * v[1]),
                          v[0] * v[0] + v[1] * v[1]};
  for (const double t :
       zeros(std::array<double, 5>{c * c - 4 * rho2[0], 2 * b * c - 4 * rho2[1],
                                   b * b + 2 * a * c - 4 * rho2[2], 2 * a * b, a * a}))
    out.add(t);
}

/// The walls lean: at the height z the outline has moved inwards by lean = slope (z - low). Sides
/// stay planes; about its corners the distance from the outline is round, and walls are cones.
void meet(const Prism& s, const StraightLine& l, CrossingList& out) {
  for (const double end : {s.low, s.high})
    if (std::isfinite(end)) out.linear(l.p[2] - end, l.v[2]);
  const double lean = s.slope == 0 ? 0 : s.slope * (l.p[2] - s.low), rise = s.slope * l.v[2];
  const double most = s.slope == 0 ? 0 : std::abs(s.slope) * (s.high - s.low);
  std::array<double, 2> near[2];  // the line, and how far walls may lean
  for (std::size_t k = 0; k < 2; ++k) {
    const double a = l.p[k] + first_t * l.v[k], b = l.p[k] + last_t * l.v[k];
    near[0][k] = std::min(a, b) - most, near[1][k] = std::max(a, b) + most;
  }
  s.sides->in_box(near[0], near[1], [&](std::size_t n) {
    const auto &a = s.sides->sides()[n].from, &b = s.sides->sides()[n].to;
    const double side[2] = {b[0] - a[0], b[1] - a[1]}, length = std::hypot(side[0], side[1]);
    const double from[2] = {l.p[0] - a[0], l.p[1] - a[1]};
    out.linear((from[0] * side[1] - from[1] * side[0]) / length + lean,
               (l.v[0] * side[1] - l.v[1] * side[0]) / length + rise);
    if (s.slope != 0)
      out.quadratic(l.v[0] * l.v[0] + l.v[1] * l.v[1] - rise * rise,
                    from[0] * l.v[0] + from[1] * l.v[1] - lean * rise,
                    from[0] * from[0] + from[1] * from[1] - lean * lean);
  });
}

void meet(const Mesh& s, const StraightLine& l, CrossingList& out) {
  std::vector<double> found;
  s.body->surface.add_crossings(l.p, l.v, first_t, last_t, found);
  for (const double t : found) out.add(t);
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
