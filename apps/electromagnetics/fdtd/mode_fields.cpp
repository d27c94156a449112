// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/mode_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Cells of the plane along each axis; one across it.
struct PlaneCells {
  const em::YeeGrid& grid;
  std::array<int, 3> begin{}, count{1, 1, 1};

  PlaneCells(const em::YeeGrid& g, const em::ModePlane& plane) : grid(g) {
    begin[static_cast<std::size_t>(plane.axis)] = plane.line;
    for (std::size_t q = 0; q < 2; ++q) {
      const auto d = (static_cast<std::size_t>(plane.axis) + 1 + q) % 3;
      begin[d] = std::max(plane.low[q], 0);
      count[d] = (plane.high[q] < 0 ? grid.cells(static_cast<int>(d)) : plane.high[q]) - begin[d];
    }
  }
  std::size_t size() const {
    return static_cast<std::size_t>(count[0]) * static_cast<std::size_t>(count[1]) *
           static_cast<std::size_t>(count[2]);
  }
  Coordinate along(int d, int normal) const {
    Coordinate out{std::string(1, "xyz"[d]), "m", {}};
    const auto a = static_cast<std::size_t>(d);
    for (int i = begin[a]; i < begin[a] + count[a]; ++i)
      out.values.push_back(d == normal ? grid.lines[a][static_cast<std::size_t>(i)]
                                       : grid.middle(d, i));
    return out;
  }
  /// Adds a share of `value` to the cells beside an edge: where it lies on a line, half to each.
  void spread(const em::Edge& e, int normal, std::complex<double> value,
              std::vector<std::complex<double>>& to) const {
    const int at[3] = {e.i, e.j, e.k};
    for (int corner = 0; corner < 8; ++corner) {
      std::size_t place = 0;
      double share = 1;
      bool inside = true;
      for (int d = 2; d >= 0; --d) {
        const auto a = static_cast<std::size_t>(d);
        const bool second = (corner >> d) & 1;
        const bool shared = d != normal && grid.resolved(d) && !em::at_middle(e.component, d);
        if (second && !shared) inside = false;
        const int i = at[d] - (second ? 1 : 0) - begin[a];
        inside = inside && i >= 0 && i < count[a];
        if (shared) share /= 2;
        place =
            place * static_cast<std::size_t>(count[a]) + static_cast<std::size_t>(std::max(i, 0));
      }
      if (inside) to[place] += share * value;
    }
  }
};

}  // namespace

MonitorResult mode_field(const em::YeeGrid& grid, const em::ModePlane& plane,
                         const em::GridModes& modes, std::size_t mode, double frequency_hz,
                         double images, std::string name) {
  const PlaneCells cells(grid, plane);
  MonitorResult out{std::move(name), "mode_field", {"frequency", "Hz", {frequency_hz}}, {}, {}};
  std::vector<std::uint64_t> shape{1};
  if (grid.dimensions() == 3) {
    for (const int d : {2, 1, 0}) {
      out.coordinates.push_back(cells.along(d, plane.axis));
      shape.push_back(out.coordinates.back().values.size());
    }
  } else {
    const int across = plane.axis == 0 ? 1 : 0;
    out.axis = cells.along(across, plane.axis);
    shape = {out.axis.values.size()};
  }
  for (int c = 0; c < 3; ++c) {
    std::vector<std::complex<double>> values(cells.size());
    bool any = false;
    for (std::size_t k = 0; k < modes.e.size(); ++k) {
      if (modes.e[k].component != c) continue;
      any = true;
      cells.spread(modes.e[k], plane.axis,
                   modes.modes[mode].e[k] / (modes.e_scale[k] * std::sqrt(images)), values);
    }
    if (any)
      out.quantities.push_back(
          {em::name_of(c), "V/m", "of a mode of 1 W", shape, std::move(values)});
  }
  return out;
}

}  // namespace tessera::apps::fdtd
