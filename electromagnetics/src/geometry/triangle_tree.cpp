// SPDX-License-Identifier: Apache-2.0
#include "geometry/triangle_tree.h"

#include "geometry/vector.h"

#include <algorithm>
#include <numeric>

namespace tessera::electromagnetics::detail {
namespace {

constexpr std::size_t leaf_size = 4;

double square_to_box(const Bounds& b, const Point& q) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const double off = std::max({b.low[k] - q[k], q[k] - b.high[k], 0.0});
    sum += off * off;
  }
  return sum;
}

/// The sign with which the ray along +x from q passes the triangle; 0 if it does not. Each side is
/// looked at from its lower end, so that the two triangles of a side round alike.
int passes(const Triangle& t, const Point& q) {
  int turns = 0;
  for (int k = 0; k < 3; ++k) {
    const Point &a = t[k], &b = t[(k + 1) % 3];
    const bool a_above = a[2] > q[2], b_above = b[2] > q[2];
    if (a_above == b_above) continue;
    const Point &low = a_above ? b : a, &high = a_above ? a : b;
    const double beside =
        (high[1] - low[1]) * (q[2] - low[2]) - (q[1] - low[1]) * (high[2] - low[2]);
    if (beside > 0) turns += b_above ? 1 : -1;
  }
  if (turns == 0) return 0;
  const Point n = area_vector(t);
  if (n[0] == 0) return 0;
  // (p - t0) . n = 0 with p = (x, q1, q2)
  const double x = t[0][0] - ((q[1] - t[0][1]) * n[1] + (q[2] - t[0][2]) * n[2]) / n[0];
  const double low = std::min({t[0][0], t[1][0], t[2][0]}),
               high = std::max({t[0][0], t[1][0], t[2][0]});
  return std::clamp(x, low, high) > q[0] ? turns : 0;
}

}  // namespace

Point area_vector(const Triangle& t) {
  const Point u = minus(t[1], t[0]), v = minus(t[2], t[0]);
  return {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
}

/// By the regions of its plane (C. Ericson, Real-Time Collision Detection, 2005, 5.1.5).
Point nearest_point(const Triangle& t, const Point& q) {
  const Point &a = t[0], &b = t[1], &c = t[2];
  const Point ab = minus(b, a), ac = minus(c, a), aq = minus(q, a);
  const double d1 = dot(ab, aq), d2 = dot(ac, aq);
  if (d1 <= 0 && d2 <= 0) return a;
  const Point bq = minus(q, b);
  const double d3 = dot(ab, bq), d4 = dot(ac, bq);
  if (d3 >= 0 && d4 <= d3) return b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return plus(a, times(d1 - d3 > 0 ? d1 / (d1 - d3) : 0, ab));
  const Point cq = minus(q, c);
  const double d5 = dot(ab, cq), d6 = dot(ac, cq);
  if (d6 >= 0 && d5 <= d6) return c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return plus(a, times(d2 - d6 > 0 ? d2 / (d2 - d6) : 0, ac));
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double whole = d4 - d3 + d5 - d6;
    return plus(b, times(whole > 0 ? (d4 - d3) / whole : 0, minus(c, b)));
  }
  const double whole = va + vb + vc;
  return plus(a, plus(times(vb / whole, ab), times(vc / whole, ac)));
}

TriangleTree::TriangleTree(const std::vector<Triangle>& given) : number_(given.size()) {
  if (given.empty()) return;
  std::iota(number_.begin(), number_.end(), std::size_t{0});
  nodes_.reserve(given.size());
  build(0, given.size(), given);
  triangles_.reserve(given.size());
  for (const std::size_t n : number_) triangles_.push_back(given[n]);
}

Bounds TriangleTree::box_of(const Triangle& t) {
  Bounds b{t[0], t[0]};
  for (int k = 0; k < 3; ++k)
    for (const Point& p : {t[1], t[2]}) {
      b.low[k] = std::min(b.low[k], p[k]);
      b.high[k] = std::max(b.high[k], p[k]);
    }
  return b;
}

/// Halves by the middles of triangles along the longest side of their box.
std::uint32_t TriangleTree::build(std::size_t first, std::size_t last,
                                  const std::vector<Triangle>& given) {
  const auto here = static_cast<std::uint32_t>(nodes_.size());
  Bounds box = box_of(given[number_[first]]);
  for (std::size_t n = first; n < last; ++n) {
    const Bounds b = box_of(given[number_[n]]);
    for (int k = 0; k < 3; ++k) {
      box.low[k] = std::min(box.low[k], b.low[k]);
      box.high[k] = std::max(box.high[k], b.high[k]);
    }
  }
  const bool leaf = last - first <= leaf_size;
  nodes_.push_back({box, static_cast<std::uint32_t>(first),
                    leaf ? static_cast<std::uint32_t>(last - first) : 0});
  if (leaf) return here;
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (box.high[k] - box.low[k] > box.high[axis] - box.low[axis]) axis = k;
  const std::size_t middle = (first + last) / 2;
  const auto place = [&](std::size_t n) {
    return given[n][0][axis] + given[n][1][axis] + given[n][2][axis];
  };
  std::nth_element(number_.begin() + static_cast<std::ptrdiff_t>(first),
                   number_.begin() + static_cast<std::ptrdiff_t>(middle),
                   number_.begin() + static_cast<std::ptrdiff_t>(last),
                   [&](std::size_t a, std::size_t b) {
                     const double pa = place(a), pb = place(b);
                     return pa < pb || (pa == pb && a < b);
                   });
  build(first, middle, given);
  const std::uint32_t second = build(middle, last, given);
  nodes_[here].first = second;
  return here;
}

/// Nearer boxes first; `skip(d2, best)` says which need no look.
template <class Skip>
TriangleTree::Nearest TriangleTree::search(const Point& q, const Skip& skip) const {
  Nearest best{0, {}, INFINITY};
  struct Waiting {
    std::uint32_t node;
    double d2;
  } stack[64];
  int n = 0;
  stack[n++] = {0, square_to_box(nodes_[0].box, q)};
  while (n > 0) {
    const Waiting here = stack[--n];
    if (skip(here.d2, best.d2)) continue;
    const Node& node = nodes_[here.node];
    if (node.count == 0) {
      const Waiting a{here.node + 1, square_to_box(nodes_[here.node + 1].box, q)},
          b{node.first, square_to_box(nodes_[node.first].box, q)};
      stack[n++] = a.d2 < b.d2 ? b : a;
      stack[n++] = a.d2 < b.d2 ? a : b;
      continue;
    }
    for (std::uint32_t k = 0; k < node.count; ++k) {
      const std::size_t at = std::size_t{node.first} + k;
      const Point foot = nearest_point(triangles_[at], q), off = minus(q, foot);
      const double d2 = dot(off, off);
      if (d2 < best.d2) best = {at, foot, d2};
    }
  }
  return best;
}

TriangleTree::Nearest TriangleTree::nearest(const Point& q) const {
  return search(q, [](double d2, double best) { return d2 >= best; });
}

double TriangleTree::at_least(const Point& q) const {
  double least = INFINITY;
  const Nearest best = search(q, [&](double d2, double best) {
    if (d2 < best / 2) return false;
    least = std::min(least, d2);
    return true;
  });
  return std::sqrt(std::min(least, best.d2));
}

int TriangleTree::winding(const Point& q, const std::vector<int>* skip, int skipped) const {
  if (empty()) return 0;
  int sum = 0;
  walk(
      [&](const Bounds& b) {
        return b.high[0] > q[0] && b.low[1] <= q[1] && q[1] <= b.high[1] && b.low[2] <= q[2] &&
               q[2] <= b.high[2];
      },
      [&](std::size_t at) {
        if (!skip || (*skip)[number_[at]] != skipped) sum += passes(triangles_[at], q);
      });
  return sum;
}

/// With the barycentric coordinates of the point in the triangle's plane, a little beyond its
/// sides.
void TriangleTree::add_crossings(const Point& p, const Point& v, double from, double to,
                                 std::vector<double>& out) const {
  if (empty()) return;
  Point low, high;
  for (int k = 0; k < 3; ++k) {
    const double a = p[k] + from * v[k], b = p[k] + to * v[k];
    low[k] = std::min(a, b), high[k] = std::max(a, b);
  }
  constexpr double beyond = 1e-9;
  in_box(low, high, [&](std::size_t at) {
    const Triangle& t = triangles_[at];
    const Point n = area_vector(t);
    const double rise = dot(n, v);
    if (rise == 0) return;
    const Point r = minus(t[0], p);
    const double s = dot(n, r) / rise;
    if (!(s >= from && s <= to)) return;
    const Point x = minus(plus(p, times(s, v)), t[0]), u = minus(t[1], t[0]), w = minus(t[2], t[0]);
    const double uu = dot(u, u), uw = dot(u, w), ww = dot(w, w), xu = dot(x, u), xw = dot(x, w);
    const double whole = uu * ww - uw * uw;
    const double a = (ww * xu - uw * xw) / whole, b = (uu * xw - uw * xu) / whole;
    if (a >= -beyond && b >= -beyond && a + b <= 1 + beyond) out.push_back(s);
  });
}

}  // namespace tessera::electromagnetics::detail
