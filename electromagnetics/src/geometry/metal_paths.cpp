// SPDX-License-Identifier: Apache-2.0
#include "geometry/metal_paths.h"

#include "geometry/vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tessera::electromagnetics::detail {
namespace {

constexpr double nearly_all = 1e-6;  // of a segment at its ends: points in metal lie on its surface
constexpr double hair = 3e-7;        // of a cell, within metal: less than sheets are thick
constexpr int bends = 60;            // halvings of a path

bool all_metal(const Metal& metal, const Point& p, const Point& q) {
  const std::vector<Stretch> s = metal.along(p, q);
  return s.size() == 1 && s[0].from < nearly_all && s[0].to > 1 - nearly_all;
}

/// A parallelogram with right angles; places in it as shares of its sides.
struct Rectangle {
  Point corner, u, v;
  double length_u = norm(u), length_v = norm(v);
  using Place = std::array<double, 2>;
  Point at(const Place& p) const { return plus(corner, plus(times(p[0], u), times(p[1], v))); }
};

/// Downhill from `from` to a place in metal, each time to the lowest of three places: where the
/// distance over its slope along the rectangle leads, which is right across a straight rod; what
/// lies above the nearest metal; and where a straight line through that and the next such metal
/// meets the rectangle, which is right along a rod that crosses it at a small angle.
std::optional<Rectangle::Place> downhill(const Metal& metal, std::size_t body, const Rectangle& r,
                                         Rectangle::Place from) {
  constexpr int most = 40;
  const Point across = times(1 / (r.length_u * r.length_v), cross(r.u, r.v));
  const auto clamped = [](double a, double b) {
    return Rectangle::Place{std::clamp(a, 0.0, 1.0), std::clamp(b, 0.0, 1.0)};
  };
  const auto below = [&](const Point& p) {
    const Point at = minus(p, r.corner);
    return clamped(dot(at, r.u) / (r.length_u * r.length_u),
                   dot(at, r.v) / (r.length_v * r.length_v));
  };
  const double in = hair * std::min(r.length_u, r.length_v);
  const auto foot = [&](const Point& p, const Distance& d) {
    return minus(p, times(d.value + in, d.gradient));
  };
  Distance here = metal.nearest(r.at(from), body);
  for (int n = 0; n < most && here.value > 0 && std::isfinite(here.value); ++n) {
    const double gu = dot(here.gradient, r.u) / r.length_u,
                 gv = dot(here.gradient, r.v) / r.length_v;
    // Not out of the rectangle.
    const bool stays_u = (from[0] <= 0 && gu > 0) || (from[0] >= 1 && gu < 0),
               stays_v = (from[1] <= 0 && gv > 0) || (from[1] >= 1 && gv < 0);
    const double du = stays_u ? 0 : gu, dv = stays_v ? 0 : gv, slope2 = du * du + dv * dv;
    if (slope2 < 1e-12) return {};
    const double step = (here.value + in) / slope2;
    const Point q = foot(r.at(from), here), p = r.at(below(q)),
                next = foot(p, metal.nearest(p, body));
    const double h = dot(across, minus(q, r.corner)), h_next = dot(across, minus(next, r.corner));
    std::array<Rectangle::Place, 3> places{
        clamped(from[0] - step * du / r.length_u, from[1] - step * dv / r.length_v), below(q),
        below(q)};
    if (h != h_next) places[2] = below(plus(next, times(-h_next / (h - h_next), minus(q, next))));
    const double before = here.value;
    for (const Rectangle::Place& place : places)
      if (const Distance d = metal.nearest(r.at(place), body); d.value < here.value)
        here = d, from = place;
    for (double part = step / 2; here.value == before && part > 1e-3 * step; part /= 2) {
      const Rectangle::Place place =
          clamped(from[0] - part * du / r.length_u, from[1] - part * dv / r.length_v);
      if (const Distance d = metal.nearest(r.at(place), body); d.value < here.value)
        here = d, from = place;
    }
    if (!(here.value < before)) return {};
  }
  if (!(here.value <= 0)) return {};
  return from;
}

/// The middle of the metal about a place, along one side and the other.
Rectangle::Place middle_of_piece(const Metal& metal, const Rectangle& r, Rectangle::Place p) {
  for (int round = 0; round < 4; ++round)
    for (const std::size_t side : {0, 1}) {
      Rectangle::Place low = p, high = p;
      low[side] = 0, high[side] = 1;
      for (const Stretch& s : metal.along(r.at(low), r.at(high)))
        if (s.from <= p[side] + nearly_all && s.to >= p[side] - nearly_all) {
          p[side] = (s.from + s.to) / 2;
          break;
        }
    }
  return p;
}

/// The part of a vector from p, in the box, that stays in it.
double share_within(const Point& p, const Point& v, const Point& low, const Point& high) {
  double share = 1;
  for (int k = 0; k < 3; ++k)
    if (v[k] != 0)
      share = std::min(share, std::max(0.0, ((v[k] > 0 ? high[k] : low[k]) - p[k]) / v[k]));
  return share;
}

struct Search {
  const Metal& metal;
  const Point &low, &high;
  double size = norm(minus(high, low)), shortest = size;
  int steps_left = 400;

  /// From p in the open to the nearest metal, and into the middle of that; nothing where it is not
  /// in the box.
  std::optional<Point> into_metal(Point p) const {
    Distance d = metal.nearest(p);
    if (d.value <= 0) return p;
    for (int n = 0; n < 8 && d.value > 0 && std::isfinite(d.value); ++n) {
      p = minus(p, times(d.value + hair * shortest, d.gradient));
      d = metal.nearest(p);
    }
    if (!(d.value <= 1e-9 * size)) return {};
    for (int k = 0; k < 3; ++k) {
      if (p[k] < low[k] - 1e-6 * size || p[k] > high[k] + 1e-6 * size) return {};
      p[k] = std::clamp(p[k], low[k], high[k]);
    }
    const Point whole = times(-size, d.gradient);
    const Point inwards = times(share_within(p, whole, low, high), whole);
    if (norm(inwards) < 1e-9 * size) return p;
    const std::vector<Stretch> through = metal.along(p, plus(p, inwards));
    if (!through.empty() && through[0].from < nearly_all)
      p = plus(p, times(through[0].to / 2, inwards));
    return p;
  }

  /// By projections onto one and the other in turn, which lead to a common point of convex bodies.
  std::optional<Point> common_point(std::size_t a, std::size_t b, Point p) const {
    for (int n = 0; n < 80; ++n) {
      bool in_both = true;
      for (const std::size_t body : {a, b}) {
        const Distance d = metal.nearest(p, body);
        if (!std::isfinite(d.value)) return {};
        if (d.value <= 0) continue;
        in_both = false;
        p = minus(p, times(d.value + hair * shortest, d.gradient));
      }
      for (int k = 0; k < 3; ++k) p[k] = std::clamp(p[k], low[k], high[k]);
      if (in_both) return metal(p) <= 0 ? std::optional<Point>(p) : std::nullopt;
    }
    return {};
  }

  bool leads(const Point& p, const Point& q, int more) {
    if (all_metal(metal, p, q)) return true;
    if (more == 0 || --steps_left < 0) return false;
    const std::optional<Point> m = into_metal(times(0.5, plus(p, q)));
    return m && leads(p, *m, more - 1) && leads(*m, q, more - 1);
  }
};

}  // namespace

bool metal_leads(const Metal& metal, const Point& p, const Point& q, const Point& low,
                 const Point& high) {
  if (metal.settled()) return metal.closed();
  Search search{metal, low, high};
  for (int k = 0; k < 3; ++k)
    if (high[k] > low[k]) search.shortest = std::min(search.shortest, high[k] - low[k]);
  if (search.leads(p, q, bends)) return true;
  // Where two bodies meet at an angle, by way of a point that is in both.
  for (std::size_t a = 0; a < metal.bodies(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const std::optional<Point> m = search.common_point(a, b, times(0.5, plus(p, q)));
      if (!m) continue;
      search.steps_left = 200;
      if (search.leads(p, *m, bends) && search.leads(*m, q, bends)) return true;
    }
  return false;
}

std::vector<Point> pieces_of_metal(const Metal& metal, const Point& corner, const Point& u,
                                   const Point& v) {
  const Rectangle r{corner, u, v};
  std::vector<Point> out;
  const auto add = [&](std::size_t body, const Rectangle::Place& from) {
    const auto found = downhill(metal, body, r, from);
    if (!found || metal(r.at(*found)) > 0) return;  // covered
    const Point p = r.at(middle_of_piece(metal, r, *found));
    const bool known = std::any_of(out.begin(), out.end(), [&](const Point& q) {
      return norm(minus(p, q)) < 1e-6 * (r.length_u + r.length_v) || all_metal(metal, p, q);
    });
    if (!known) out.push_back(p);
  };
  for (std::size_t body = 0; body < metal.bodies(); ++body) {
    add(body, {0.5, 0.5});
    for (const double a : {0.25, 0.75})
      for (const double b : {0.25, 0.75}) add(body, {a, b});
  }
  return out;
}

std::vector<Point> islands_of_metal(const Metal& metal, const Point& corner, const Point& u,
                                    const Point& v) {
  if (metal.settled()) return {};
  const Point far = plus(corner, plus(u, v));
  const std::array<Point, 5> round{corner, plus(corner, u), far, plus(corner, v), corner};
  std::vector<Point> on_rim;
  for (std::size_t side = 0; side < 4; ++side)
    for (const Stretch& s : metal.along(round[side], round[side + 1])) {
      const double middle = (s.from + s.to) / 2;
      on_rim.push_back(plus(times(1 - middle, round[side]), times(middle, round[side + 1])));
    }
  if (!on_rim.empty() && metal.bodies() < 2) return {};
  // A surface that touches a corner is metal about it, as wide as the tolerance makes it.
  const auto at_corner = [&](const Point& p) {
    return std::any_of(round.begin(), round.end(), [&](const Point& c) {
      return norm(minus(p, c)) < 0.01 * (norm(u) + norm(v)) && metal(c) <= 0;
    });
  };
  std::vector<Point> out;
  for (const Point& p : pieces_of_metal(metal, corner, u, v))
    if (!at_corner(p) && std::none_of(on_rim.begin(), on_rim.end(), [&](const Point& q) {
          return metal_leads(metal, p, q, corner, far);
        }))
      out.push_back(p);
  return out;
}

}  // namespace tessera::electromagnetics::detail
