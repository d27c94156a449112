// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/even_cells.h"

#include "electromagnetics/waves/mode_plane.h"
#include "electromagnetics/waves/wires.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Lines beside the cells of a wire that runs between lines up to which cells are even
/// (free_wire.h).
constexpr int kBesideWires = 2;

class EvenCells {
 public:
  EvenCells(const Case& c, int axis, int line)
      : c_(c),
        axis_(axis),
        u_(static_cast<std::size_t>(axis)),
        line_(line),
        lines_(c.grid.lines[u_]) {}

  /// Of the sums over a period that give diffraction orders.
  bool sums(const MonitorOptions& o) const {
    const double beside = c_.grid.length(axis_, line_ - 1) + c_.grid.length(axis_, line_),
                 off = lines_[static_cast<std::size_t>(line_)] - (*o.position)[u_];
    return (*o.size)[u_] > 0 && std::abs(off) <= (*o.size)[u_] / 2 + beside;
  }

  /// Of a plane wave at an angle, from one cell before its box to one behind it (plane_wave.h).
  bool carries(const SourceOptions& o) const {
    constexpr double none = 1e-12;  // so little of a direction is nothing
    const Point& d = o.direction;
    const double share = std::abs(d[u_]) / std::hypot(d[0], d[1], d[2]);
    if (!(share >= none && share < 1)) return false;
    const em::Bounds box = wave_box(c_, o);
    return line_ >= nearest_line(lines_, box.low[u_]) - 1 &&
           line_ <= nearest_line(lines_, box.high[u_]) + 1;
  }

  /// Of a plane of modes: those at both of its sides.
  bool lies_about(double plane) const { return std::abs(nearest_line(lines_, plane) - line_) <= 1; }

  bool lies_about_wires() const {
    const Wires free = wires_between_lines(c_);
    double low = INFINITY, high = -INFINITY;
    for (const em::ThinWire& w : free.wires)
      for (const Point& p : w.points) low = std::min(low, p[u_]), high = std::max(high, p[u_]);
    const auto cell_of = [&](double at) {
      const auto above = std::upper_bound(lines_.begin(), lines_.end(), at);
      return static_cast<int>(above - lines_.begin()) - 1;
    };
    return low <= high && line_ >= cell_of(low) - kBesideWires &&
           line_ <= cell_of(high) + 1 + kBesideWires;
  }

 private:
  const Case& c_;
  int axis_;
  std::size_t u_;
  int line_;
  const std::vector<double>& lines_;
};

}  // namespace

std::string need_of_even_cells(const Case& c, int axis, int line) {
  const CaseOptions& o = c.options;
  const auto u = static_cast<std::size_t>(axis);
  const EvenCells cells(c, axis, line);
  if (o.grid.exact_speed_at) return "grid.exact_speed_at needs even cells";
  for (std::size_t s = 0; s < o.sources.size(); ++s) {
    const SourceOptions& source = o.sources[s];
    if (source.kind == SourceKind::plane_wave && cells.carries(source))
      return fmt::format("source[{}], a plane wave at an angle, needs even cells", s);
    if (source.kind == SourceKind::mode && source.direction[u] != 0 &&
        cells.lies_about((*source.position)[u]))
      return fmt::format("source[{}] needs even cells at both sides of its plane", s);
  }
  for (const MonitorOptions& m : o.monitors) {
    if (m.kind == MonitorKind::orders && cells.sums(m))
      return fmt::format("the orders of monitor '{}' need even cells", m.name);
    if (m.kind == MonitorKind::mode && flat_axis(c, *m.size) == axis &&
        cells.lies_about((*m.position)[u]))
      return fmt::format("monitor '{}' needs even cells at both sides of its plane", m.name);
  }
  for (const PortOptions& p : o.ports)
    if (p.kind == PortKind::mode && port_axis(p) == u && cells.lies_about(p.position[u]))
      return fmt::format("port '{}' needs even cells at both sides of its plane", p.name);
  if (!o.wires.empty() && cells.lies_about_wires())
    return "a [[wire]] that runs between lines of the grid needs even cells";
  return {};
}

}  // namespace tessera::apps::waves
