// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/grid_turn.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {

namespace em = electromagnetics;

int nearest_place(const em::YeeGrid& grid, int axis, bool middle, double at, bool joined) {
  if (!grid.resolved(axis)) return 0;
  const std::vector<double>& lines = grid.lines[static_cast<std::size_t>(axis)];
  const int n = grid.cells(axis);
  if (at < lines.front() - grid.length(axis, 0) / 2 ||
      at > lines.back() + grid.length(axis, n - 1) / 2)
    return -1;
  const auto above =
      static_cast<int>(std::upper_bound(lines.begin(), lines.end(), at) - lines.begin());
  const int cell = std::clamp(above - 1, 0, n - 1);
  if (middle) return cell;
  const bool lower =
      at - lines[static_cast<std::size_t>(cell)] < lines[static_cast<std::size_t>(cell) + 1] - at;
  const int line = lower ? cell : cell + 1;
  return joined && line == n ? 0 : line;
}

double half_smallest_cell(const em::YeeGrid& grid) {
  double out = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (grid.resolved(d)) out = std::min(out, grid.smallest_length(d) / 2);
  return out;
}

double GridTurn::inside(std::size_t along, double at) const {
  return period[along] > 0 ? at - period[along] * std::floor((at - low[along]) / period[along])
                           : at;
}
double GridTurn::apart(std::size_t along, double a, double b) const {
  const double way = a - b;
  return std::abs(period[along] > 0 ? way - period[along] * std::round(way / period[along]) : way);
}
Point GridTurn::turned(const Point& v) const {
  Point out{};
  for (std::size_t d = 0; d < 3; ++d) out[axis[d]] = sign[d] * v[d];
  return out;
}
Point GridTurn::of(const Point& r) const {
  Point out = turned(r);
  for (std::size_t d = 0; d < 3; ++d) out[d] = inside(d, out[d] + shift[d]);
  return out;
}
Point GridTurn::back(const Point& r) const {
  Point out{};
  for (std::size_t d = 0; d < 3; ++d) out[d] = inside(d, sign[d] * (r[axis[d]] - shift[axis[d]]));
  return out;
}
int GridTurn::changes() const {
  int out = 0;
  for (std::size_t d = 0; d < 3; ++d) out += axis[d] != d || sign[d] < 0;
  return out;
}
int GridTurn::component_of(int component) const {
  return static_cast<int>(axis[static_cast<std::size_t>(em::axis_of(component))]) +
         (em::is_electric(component) ? 0 : 3);
}
int GridTurn::place_of(const em::YeeGrid& grid, std::size_t from, bool middle, int at) const {
  const auto axis_from = static_cast<int>(from);
  const std::size_t to = axis[from];
  const double place =
      middle ? grid.middle(axis_from, at) : grid.lines[from][static_cast<std::size_t>(at)];
  return nearest_place(grid, static_cast<int>(to), middle,
                       inside(to, sign[from] * place + shift[to]), period[to] > 0);
}
std::optional<em::Edge> GridTurn::of(const em::YeeGrid& grid, const em::Edge& e) const {
  const std::array<int, 3> at{e.i, e.j, e.k};
  std::array<int, 3> to{};
  for (std::size_t d = 0; d < 3; ++d) {
    to[axis[d]] = place_of(grid, d, em::at_middle(e.component, static_cast<int>(d)), at[d]);
    if (to[axis[d]] < 0) return {};
  }
  return em::Edge{static_cast<std::uint8_t>(component_of(e.component)), to[0], to[1], to[2]};
}

}  // namespace tessera::apps::waves
