// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/case_parts.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

constexpr double kMostCells = 4e9;  ///< beyond it not even the f32 fields fit into 96 GB

em::Boundary boundary(Face f) {
  switch (f) {
    case Face::pml:
      return em::Boundary::pml;
    case Face::pec:
    case Face::absorber:  // in front of a conductor; what absorbs is a medium (with_absorber)
      return em::Boundary::pec;
    case Face::pmc:
      return em::Boundary::pmc;
    default:
      return em::Boundary::periodic;
  }
}

double cell_length(const Case& c, const data::Config& config) {
  const GridOptions& g = c.options.grid;
  if (g.cell) return *std::min_element(g.cell->begin(), g.cell->end());
  if (!g.cells_per_wavelength) return 0;
  const double f = g.frequency_max.value_or(c.frequency_max);
  if (!(f > 0))
    refuse({config.error(620, "grid.cells_per_wavelength",
                         "there is no highest frequency to count cells for",
                         "give grid.frequency_max")});
  return em::speed_of_light / f / em::highest_index(c.media, f) / *g.cells_per_wavelength;
}

void make_lines(Case& c, const data::Config& config) {
  const GridOptions& g = c.options.grid;
  const double cell = cell_length(c, config);
  double count = 1;
  for (int d = 0; d < 3; ++d) {
    const double own = g.cell ? (*g.cell)[static_cast<std::size_t>(d)] : cell;
    const AxisOptions& a = g.axis(d);
    double n = !a.lines.empty() ? static_cast<double>(a.lines.size())
               : g.resolved(d)  ? (g.high(d) - g.low(d)) / own
                                : 1;
    for (const RefineOptions& r : a.refine) n += (r.to - r.from) / r.cell;
    count *= n;
  }
  if (count > kMostCells)
    refuse({config.error(
        641, "grid",
        fmt::format("the grid would have about {:.2g} cells: its fields need {:.3g} TB", count,
                    count * 24 / 1e12),
        "use larger cells, a smaller domain or mirror planes")});
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    double own = g.cell ? (*g.cell)[u] : cell;
    if (own == 0 && !g.resolved(d))
      own = c.grid.smallest_length(0);  // beside lines alone; any will do
    c.grid.lines[u] = axis_lines(g, d, own);
    c.grid.one_cell_period[u] = g.resolved(d) && c.grid.cells(d) == 1;
  }
}

/// What says how long an axis is.
std::string extent_key(const GridOptions& g, int d) {
  return g.axis(d).lines.empty() ? fmt::format("grid.size[{}]", d)
                                 : fmt::format("grid.{}.lines", "xyz"[d]);
}

void make_boundaries(Case& c, const data::Config& config) {
  const BoundaryOptions& b = c.options.boundary;
  for (int d = 0; d < 3; ++d) {
    if (c.grid.resolved(d) && b.low(d) == Face::bloch) {
      const auto u = static_cast<std::size_t>(d);
      const double period = c.grid.lines[u].back() - c.grid.lines[u].front();
      c.bloch_k[u] = b.bloch_k ? (*b.bloch_k)[u] : b.bloch_phase ? (*b.bloch_phase)[u] / period : 0;
    }
    c.faces[static_cast<std::size_t>(d)] =
        c.grid.resolved(d) ? em::Faces{boundary(b.low(d)), boundary(b.high(d))}
                           : em::Faces{em::Boundary::periodic, em::Boundary::periodic};
    if (c.grid.resolved(d) && c.grid.cells(d) == 1 && boundary(b.low(d)) != em::Boundary::periodic)
      refuse({config.error(
          643, extent_key(c.options.grid, d),
          fmt::format(
              "an axis of one cell needs periodic or bloch faces, and those across {} are neither",
              "xyz"[d]),
          fmt::format("write boundary.{0} = \"periodic\" or \"bloch\"; or size 0 along {0}, where "
                      "nothing varies; or more cells",
                      "xyz"[d]))});
    const int layers = layer_cells(c, d, false) + layer_cells(c, d, true);
    const bool of_pml = b.low(d) == Face::pml || b.high(d) == Face::pml;
    if (layers > 0 && layers >= c.grid.cells(d))
      refuse({config.error(
          643, of_pml ? "boundary.pml" : "boundary.absorber",
          fmt::format("layers of {} cells together leave nothing of an axis of {} cells along {}",
                      layers, c.grid.cells(d), "xyz"[d]),
          "make the domain larger or the layers thinner")});
  }
}

}  // namespace

void make_grid(Case& c, const data::Config& config) {
  make_lines(c, config);
  make_boundaries(c, config);
}

}  // namespace tessera::apps::waves
