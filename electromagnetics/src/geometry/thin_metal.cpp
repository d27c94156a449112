// SPDX-License-Identifier: Apache-2.0
#include "geometry/thin_metal.h"

#include "geometry/vector.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::electromagnetics::detail {
namespace {

constexpr double wide = 0.5;  // of an edge: metal from there on is as thick as the cell
constexpr int rulers =
    6;  // a face is crossed by that many lines each way, less one, between its edges

bool within(const Stretch& s) { return s.from > 0 && s.to < 1; }

/// low, high, or closed, of metal that crosses an edge.
ThinCourse end_of(const Stretch& s, double low_up_to) {
  if (s.to - s.from >= wide) return ThinCourse::closed;
  return (s.from + s.to) / 2 < low_up_to ? ThinCourse::low : ThinCourse::high;
}
double shift_of(const Stretch& s) {
  const double middle = (s.from + s.to) / 2;
  return std::min(middle, 1 - middle);
}

/// The rim of a face runs through 0 <= r < 4: the four sides, counterclockwise.
struct Rim {
  std::vector<Stretch> metal;  ///< joined at corners, rising; the last one may end beyond 4
  /// The number of the open part that holds r, counted from the one behind the first metal; -1 in
  /// metal. Two stretches or more.
  int open_part(double r) const {
    if (r + 4 <= metal.back().to) return -1;  // it goes on around the first corner
    for (std::size_t n = 0; n < metal.size(); ++n) {
      if (r >= metal[n].from && r <= metal[n].to) return -1;
      if (r < metal[n].from) return static_cast<int>((n + metal.size() - 1) % metal.size());
    }
    return static_cast<int>(metal.size()) - 1;
  }
};

Rim rim_of(const std::array<std::vector<Stretch>, 4>& sides) {
  Rim rim;
  for (int side = 0; side < 4; ++side)
    for (const Stretch& s : sides[static_cast<std::size_t>(side)]) {
      if (!rim.metal.empty() && rim.metal.back().to == side + s.from)
        rim.metal.back().to = side + s.to;
      else
        rim.metal.push_back({side + s.from, side + s.to});
    }
  if (rim.metal.size() > 1 && rim.metal.front().from == 0 && rim.metal.back().to == 4) {
    rim.metal.back().to += rim.metal.front().to;
    rim.metal.erase(rim.metal.begin());
  }
  return rim;
}

/// Whether the open parts of the rim hang together within the face: along rulers that metal does
/// not cross.
bool hangs_together(const Metal& metal, const Point& corner, const Point& u, const Point& v,
                    const Rim& rim) {
  constexpr int n = rulers + 1;
  const auto at = [&](int i, int j) {
    return plus(corner, plus(times(double(i) / rulers, u), times(double(j) / rulers, v)));
  };
  std::array<int, n * n> part;  // of the rim that a node hangs together with, by number + 1; 0: not
                                // seen yet, -1: metal
  part.fill(0);
  int parts = 0;
  std::vector<bool> seen(rim.metal.size(), false);
  const auto on_rim = [&](int i, int j) -> double {
    if (j == 0 && i < rulers) return double(i) / rulers;
    if (i == rulers && j < rulers) return 1 + double(j) / rulers;
    if (j == rulers && i > 0) return 2 + double(rulers - i) / rulers;
    if (i == 0 && j > 0) return 3 + double(rulers - j) / rulers;
    return -1;
  };
  for (int first = 0; first < n * n; ++first) {
    const double r = on_rim(first % n, first / n);
    if (r < 0 || part[static_cast<std::size_t>(first)] != 0) continue;
    const int own = rim.open_part(r);
    if (own < 0 || seen[static_cast<std::size_t>(own)]) continue;
    ++parts;
    std::vector<int> next{first};
    part[static_cast<std::size_t>(first)] = parts;
    while (!next.empty()) {
      const int here = next.back(), i = here % n, j = here / n;
      next.pop_back();
      if (const double at_rim = on_rim(i, j); at_rim >= 0)
        if (const int open = rim.open_part(at_rim); open >= 0)
          seen[static_cast<std::size_t>(open)] = true;
      for (const auto& [di, dj] :
           {std::array{1, 0}, std::array{-1, 0}, std::array{0, 1}, std::array{0, -1}}) {
        const int a = i + di, b = j + dj;
        if (a < 0 || b < 0 || a > rulers || b > rulers ||
            part[static_cast<std::size_t>(b * n + a)] != 0)
          continue;
        if (!metal.along(at(i, j), at(a, b)).empty()) continue;
        part[static_cast<std::size_t>(b * n + a)] = parts;
        next.push_back(b * n + a);
      }
    }
  }
  return parts < 2;
}

}  // namespace

ThinMetalInFace thin_metal_in(const Metal& metal, const Point& corner, const Point& u,
                              const Point& v, const std::array<double, 2>& low_up_to) {
  if (metal.settled()) return {};
  const Point far = plus(corner, plus(u, v)), right = plus(corner, u), left = plus(corner, v);
  std::array<std::vector<Stretch>, 4> sides{metal.along(corner, right), metal.along(right, far),
                                            metal.along(far, left), metal.along(left, corner)};
  const Rim rim = rim_of(sides);
  if (rim.metal.empty()) return {};
  const auto only = [&](int side) {
    const auto& s = sides[static_cast<std::size_t>(side)];
    return s.size() == 1 && within(s[0]);
  };
  // Along the axes, whichever way the rim runs.
  const auto along_axis = [&](int side) {
    const Stretch& s = sides[static_cast<std::size_t>(side)][0];
    return side < 2 ? s : Stretch{1 - s.to, 1 - s.from};
  };
  ThinMetalInFace out;
  constexpr int number[4] = {0, 3, 1, 2};  // of the sides, in edges_of
  for (int side = 0; side < 4; ++side)
    out.split[static_cast<std::size_t>(number[side])] = only(side);
  if (rim.metal.size() == 1) {
    const Point from[4] = {corner, right, far, left}, on[4] = {v, times(-1, u), times(-1, v), u};
    for (int side = 0; side < 4; ++side) {
      if (!only(side)) continue;
      out.course = ThinCourse::rim;
      const Stretch& s = sides[static_cast<std::size_t>(side)][0];
      const double middle = (s.from + s.to) / 2;
      const Point at = plus(times(1 - middle, from[side]), times(middle, from[(side + 1) % 4]));
      const std::vector<Stretch> inwards = metal.along(at, plus(at, on[side]));
      if (!inwards.empty()) out.reach = inwards[0].to;
    }
    return out;
  }
  if (hangs_together(metal, corner, u, v, rim)) return {};
  const auto whole = [&](int side) {
    const auto& s = sides[static_cast<std::size_t>(side % 4)];
    return s.size() == 1 && s[0].from == 0 && s[0].to == 1;
  };
  out.course = ThinCourse::closed;
  out.stands = whole(0) || whole(1) || whole(2) || whole(3);
  const Point from[4] = {corner, right, far, left}, to[4] = {right, far, left, corner};
  for (int side = 0; side < 4; ++side)
    if (const auto& s = sides[static_cast<std::size_t>(side)]; !s.empty() && !whole(side)) {
      const double middle = (s[0].from + s[0].to) / 2;
      out.middle = plus(times(1 - middle, from[side]), times(middle, to[side]));
      break;
    }
  for (int side = 0; side < 4; ++side) {
    const int opposite = (side + 2) % 4;
    if (rim.metal.size() != 2 || !only(side) || !(only(opposite) || whole(opposite))) continue;
    const Stretch near = along_axis(side), other = only(opposite) ? along_axis(opposite) : near;
    const double low = low_up_to[static_cast<std::size_t>(side % 2)];
    if (end_of(near, low) != end_of(other, low)) continue;
    out.course = end_of(near, low);
    out.across = side % 2;
    out.shift = std::max(shift_of(near), shift_of(other));
  }
  return out;
}

ThinMetalInFace thin_metal_in(const Metal& metal, const Point& corner, const Point& u,
                              double low_up_to) {
  if (metal.settled()) return {};
  const std::vector<Stretch> closed = metal.along(corner, plus(corner, u));
  if (closed.empty()) return {};
  const bool low_open = closed.front().from > 0, high_open = closed.back().to < 1;
  if (closed.size() - 1 + low_open + high_open < 2) return {};
  const Stretch& first =
      closed[low_open ? 0 : 1];  // two open parts: where one end is metal there are two stretches
  return {.course = closed.size() == 1 ? end_of(first, low_up_to) : ThinCourse::closed,
          .across = 0,
          .middle = plus(corner, times((first.from + first.to) / 2, u)),
          .shift = shift_of(first)};
}

}  // namespace tessera::electromagnetics::detail
