// SPDX-License-Identifier: Apache-2.0
//
// Which wires run freely, and where on them a point is.
#include "tessera/electromagnetics/free_wire.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::electromagnetics {
namespace {

bool on_a_line(const YeeGrid& grid, int d, double x) {
  const auto& lines = grid.lines[static_cast<std::size_t>(d)];
  const auto above = std::lower_bound(lines.begin(), lines.end(), x);
  double off = INFINITY;
  if (above != lines.end()) off = std::min(off, *above - x);
  if (above != lines.begin()) off = std::min(off, x - above[-1]);
  return off <= same_on_wire * grid.smallest_length(d);
}

}  // namespace

bool runs_on_lines(const ThinWire& wire, const YeeGrid& grid) {
  const std::vector<Point>& p = wire.points;
  const bool closed = p.size() > 1 && is_closed(wire, grid);
  for (std::size_t k = 0; k + 1 < p.size(); ++k) {
    int axis = -1;
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      if (same_along(grid, d, p[k], p[k + 1])) {
        if (!on_a_line(grid, d, p[k][u])) return false;
      } else if (axis >= 0) {
        return false;
      } else {
        axis = d;
      }
    }
    if (axis < 0) return true;  // which add_thin_wires refuses
    const auto u = static_cast<std::size_t>(axis);
    if ((k > 0 || closed) && !on_a_line(grid, axis, p[k][u])) return false;
  }
  return true;
}

WirePlace place_on_wires(std::span<const ThinWire> wires, const Point& p) {
  WirePlace best{.distance_m = INFINITY};
  for (std::size_t w = 0; w < wires.size(); ++w)
    for (std::size_t k = 0; k + 1 < wires[w].points.size(); ++k) {
      const Point &a = wires[w].points[k], &b = wires[w].points[k + 1];
      double along = 0, square = 0, off = 0;
      for (std::size_t d = 0; d < 3; ++d)
        along += (p[d] - a[d]) * (b[d] - a[d]), square += (b[d] - a[d]) * (b[d] - a[d]);
      if (square == 0) continue;
      const double share = std::clamp(along / square, 0.0, 1.0), length = std::sqrt(square);
      for (std::size_t d = 0; d < 3; ++d) off += std::pow(p[d] - a[d] - share * (b[d] - a[d]), 2);
      if (std::sqrt(off) >= best.distance_m) continue;
      best = {w,
              k,
              share,
              std::sqrt(off),
              {(b[0] - a[0]) / length, (b[1] - a[1]) / length, (b[2] - a[2]) / length}};
    }
  return best;
}

std::vector<std::size_t> free_wires(std::span<const ThinWire> wires, const YeeGrid& grid) {
  if (wires.empty()) return {};
  const double near = same_on_wire * std::min({grid.smallest_length(0), grid.smallest_length(1),
                                               grid.smallest_length(2)});
  std::vector<bool> free(wires.size());
  for (std::size_t w = 0; w < wires.size(); ++w) free[w] = !runs_on_lines(wires[w], grid);
  const auto meet = [&](const ThinWire& a, const ThinWire& b) {
    return std::any_of(b.points.begin(), b.points.end(), [&](const Point& p) {
      return place_on_wires({&a, 1}, p).distance_m < near;
    });
  };
  for (bool more = std::find(free.begin(), free.end(), true) != free.end(); more;) {
    more = false;
    for (std::size_t w = 0; w < wires.size(); ++w)
      for (std::size_t v = 0; v < wires.size(); ++v)
        if (free[w] && !free[v] && (meet(wires[w], wires[v]) || meet(wires[v], wires[w])))
          free[v] = true, more = true;
  }
  std::vector<std::size_t> out;
  for (std::size_t w = 0; w < wires.size(); ++w)
    if (free[w]) out.push_back(w);
  return out;
}

}  // namespace tessera::electromagnetics
