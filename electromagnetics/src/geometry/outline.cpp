// SPDX-License-Identifier: Apache-2.0
#include "geometry/outline.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tessera::electromagnetics::detail {
namespace {

/// Twice the area of the triangle a b c, positive when it turns left.
double turn(const Point2& a, const Point2& b, const Point2& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

bool within(const Point2& a, const Point2& b, const Point2& p) {  // p on the line through a and b
  return std::min(a[0], b[0]) <= p[0] && p[0] <= std::max(a[0], b[0]) &&
         std::min(a[1], b[1]) <= p[1] && p[1] <= std::max(a[1], b[1]);
}

bool meet(const Point2& a, const Point2& b, const Point2& c, const Point2& d) {
  const double ac = turn(a, b, c), ad = turn(a, b, d), ca = turn(c, d, a), cb = turn(c, d, b);
  if (((ac > 0) != (ad > 0)) && ac != 0 && ad != 0 && ((ca > 0) != (cb > 0)) && ca != 0 && cb != 0)
    return true;
  return (ac == 0 && within(a, b, c)) || (ad == 0 && within(a, b, d)) ||
         (ca == 0 && within(c, d, a)) || (cb == 0 && within(c, d, b));
}

}  // namespace

std::vector<Point2> simple_outline(const std::vector<Point2>& corners, const char* operation) {
  const auto refuse = [&](const std::string& what) {
    throw Error(std::string("[") + operation + "] " + what);
  };
  std::vector<Point2> out = corners;
  if (out.size() > 1 && out.front() == out.back()) out.pop_back();
  const std::size_t n = out.size();
  if (n < 3) refuse("an outline needs at least 3 corners, got " + std::to_string(n));
  for (const Point2& p : out)
    if (!std::isfinite(p[0]) || !std::isfinite(p[1])) refuse("corners of an outline are finite");
  for (std::size_t i = 0; i < n; ++i) {
    const Point2 &a = out[i], &b = out[(i + 1) % n], &c = out[(i + 2) % n];
    const auto corner = [&](std::size_t k) { return std::to_string(k % n); };
    if (a == b)
      refuse("corners " + corner(i) + " and " + corner(i + 1) + " coincide; leave one out");
    const double onward = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]);
    if (turn(a, b, c) == 0 && onward < 0)
      refuse("the outline runs back on itself at corner " + corner(i + 1));
    for (std::size_t j = i + 2; j < n; ++j) {
      if ((j + 1) % n == i) continue;
      if (meet(a, b, out[j], out[(j + 1) % n]))
        refuse("the outline crosses or touches itself: side " + corner(i) + "-" + corner(i + 1) +
               " meets side " + corner(j) + "-" + corner(j + 1) +
               "; unite several prisms, or subtract one for a hole");
    }
  }
  double area = 0;
  for (std::size_t i = 1; i + 1 < n; ++i) area += turn(out[0], out[i], out[i + 1]);
  if (area < 0) std::reverse(out.begin(), out.end());
  return out;
}

std::shared_ptr<const data::SideTree> sides_of_outline(const std::vector<Point2>& corners) {
  std::vector<data::Side> sides;
  for (std::size_t n = 0; n < corners.size(); ++n)
    sides.push_back({corners[n], corners[(n + 1) % corners.size()]});
  return std::make_shared<const data::SideTree>(std::move(sides));
}

bool outline_contains(const data::SideTree& sides, const Point2& p) {
  bool inside = false;
  sides.in_box(p, {sides.high()[0], p[1]}, [&](std::size_t n) {
    const data::Side& s = sides.sides()[n];
    // From the lower end, whichever way the side runs, so that both owners of a side round alike.
    const bool rising = s.from[1] <= s.to[1];
    const Point2& low = rising ? s.from : s.to;
    const Point2& high = rising ? s.to : s.from;
    if (!(low[1] <= p[1] && p[1] < high[1])) return;
    const double x = low[0] + (p[1] - low[1]) / (high[1] - low[1]) * (high[0] - low[0]);
    if (p[0] < x) inside = !inside;
  });
  return inside;
}

OutlineDistance outline_distance(const data::SideTree& sides, const Point2& p) {
  constexpr double same_facing = 0.95;  // cosine
  struct Foot {
    double d2 = INFINITY;
    Point2 from{}, outward{};
    bool at_end = false;
  };
  const auto foot_on = [&](std::size_t n) {
    const Point2 &a = sides.sides()[n].from, &b = sides.sides()[n].to;
    const Point2 side{b[0] - a[0], b[1] - a[1]};
    const double length2 = side[0] * side[0] + side[1] * side[1], length = std::sqrt(length2);
    const double t = ((p[0] - a[0]) * side[0] + (p[1] - a[1]) * side[1]) / length2;
    const double s = std::clamp(t, 0.0, 1.0);
    Foot f;
    f.from = {p[0] - a[0] - s * side[0], p[1] - a[1] - s * side[1]};
    f.d2 = f.from[0] * f.from[0] + f.from[1] * f.from[1];
    f.outward = {side[1] / length, -side[0] / length};
    f.at_end = s != t;
    return f;
  };
  Foot best;
  sides.near(p, [&](std::size_t n) {
    const Foot f = foot_on(n);
    if (f.d2 < best.d2) best = f;
    return best.d2;
  });
  double apart2 = INFINITY;
  sides.near(p, [&](std::size_t n) {
    const Foot f = foot_on(n);
    if (f.outward[0] * best.outward[0] + f.outward[1] * best.outward[1] < same_facing)
      apart2 = std::min(apart2, f.d2);
    return apart2;
  });
  const double sign = outline_contains(sides, p) ? -1 : 1, d = std::sqrt(best.d2);
  OutlineDistance out{sign * d, best.outward, std::sqrt(apart2)};
  if (best.at_end && d > 0) out.gradient = {sign * best.from[0] / d, sign * best.from[1] / d};
  return out;
}

}  // namespace tessera::electromagnetics::detail
