// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/auto_grid.h"

#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/wires.h"
#include "tessera/data/quantity.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/free_wire.h"
#include "tessera/electromagnetics/scene_demands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Lines that a port or a wire cannot do without, above those of bodies.
constexpr int kPortLine = em::metal_line + 1;
constexpr int kBandPoints = 9;  ///< at which the shortest wavelength is looked for

std::string metres(double m) { return data::print_readably({m, data::dimension::length}); }

/// The band that the cells are to resolve.
std::vector<double> frequencies(const Case& c, const data::Config& config) {
  const double high = c.options.grid.frequency_max.value_or(c.frequency_max);
  if (!(high > 0))
    refuse({config.error(620, "grid.auto",
                         "there is nothing to resolve: no source, port or monitor has a frequency",
                         "give grid.frequency_max")});
  const double low = std::min(c.frequency_min, high);
  std::vector<double> out;
  for (int k = 0; k <= kBandPoints; ++k)
    if (const double f = low + (high - low) * k / kBandPoints; f > 0) out.push_back(f);
  out.back() = high;
  return out;
}

em::Bounds domain_of(const GridOptions& g) {
  em::Bounds b;
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    b.low[u] = g.low(d), b.high[u] = g.high(d);
  }
  return b;
}

/// Both ends of a box, or its one place where it is flat.
void add_ends(em::AxisDemands& to, double position, double size, int weight,
              const std::string& owner) {
  to.lines.push_back({position - size / 2, weight, owner});
  if (size > 0) to.lines.push_back({position + size / 2, weight, owner});
}

bool is_oblique(const WireOptions& wire) {
  for (std::size_t k = 1; k < wire.points.size(); ++k) {
    int differ = 0;
    for (std::size_t d = 0; d < 3; ++d)
      differ += !same_coordinate(wire, wire.points[k][d], wire.points[k - 1][d]);
    if (differ > 1) return true;
  }
  return false;
}

/// A port or load at a point of an oblique wire asks for no line.
bool on_oblique_wire(const CaseOptions& o, const Point& p) {
  return std::any_of(o.wires.begin(), o.wires.end(), [&](const WireOptions& w) {
    const em::ThinWire wire{w.points, w.radius};
    return is_oblique(w) && em::place_on_wires({&wire, 1}, p).distance_m < w.radius / 2;
  });
}

void add_ports(const CaseOptions& o, std::array<em::AxisDemands, 3>& to) {
  for (const PortOptions& p : o.ports) {
    if (p.kind == PortKind::lumped && on_oblique_wire(o, p.position)) continue;
    const std::string owner = "port '" + p.name + "'";
    for (std::size_t d = 0; d < 3; ++d) {
      const bool across = p.kind == PortKind::mode && d == port_axis(p);
      if (p.kind == PortKind::lumped || across)
        add_ends(to[d], p.position[d], across ? 0 : (*p.size)[d], kPortLine, owner);
      else if (p.size && (*p.size)[d] > 0)
        add_ends(to[d], p.position[d], (*p.size)[d], em::body_line, owner);
      if (across) to[d].even.push_back({p.position[d], owner});
      if (p.plane && (*p.plane)[d] != p.position[d])
        to[d].lines.push_back({(*p.plane)[d], kPortLine, owner});
    }
  }
  for (const LoadOptions& l : o.loads)
    for (std::size_t d = 0; d < 3 && !on_oblique_wire(o, l.position); ++d)
      add_ends(to[d], l.position[d], l.size[d], kPortLine, "load '" + l.name + "'");
  const auto add_plane = [&](const auto& m, const std::string& owner) {
    for (std::size_t d = 0; d < 3; ++d)
      if (m.size && (*m.size)[d] == 0 && o.grid.resolved(static_cast<int>(d))) {
        to[d].lines.push_back({(*m.position)[d], kPortLine, owner});
        to[d].even.push_back({(*m.position)[d], owner});
      }
  };
  for (std::size_t k = 0; k < o.sources.size(); ++k) {
    if (o.sources[k].kind != SourceKind::mode) continue;
    SourceOptions s = o.sources[k];
    if (!s.size) {  // all of the plane across its direction
      s.size = Point{};
      for (std::size_t d = 0; d < 3; ++d) (*s.size)[d] = s.direction[d] != 0 ? 0 : INFINITY;
    }
    add_plane(s, fmt::format("source {}", k));
  }
  for (const MonitorOptions& m : o.monitors)
    if (m.kind == MonitorKind::mode) add_plane(m, "monitor '" + m.name + "'");
}

/// A sheet lies in a plane of the grid; where a side of it runs along the grid, fields change.
void add_sheets(const CaseOptions& o, std::array<em::AxisDemands, 3>& to) {
  for (const SheetOptions& s : o.sheets) {
    const std::string owner = "sheet '" + s.name + "'";
    const auto normal = static_cast<std::size_t>(s.axis());
    for (std::size_t d = 0; d < 3; ++d)
      if (d == normal)
        to[d].lines.push_back({s.position[d], em::metal_line, owner});
      else if (s.shape == SheetShape::rectangle && s.size && std::isfinite((*s.size)[d]))
        add_ends(to[d], s.position[d], (*s.size)[d], em::metal_line, owner);
    for (std::size_t k = 0; k < s.corners.size(); ++k)
      for (std::size_t q = 0; q < 2; ++q)
        if (const double at = s.corners[k][q]; at == s.corners[(k + 1) % s.corners.size()][q])
          to[(normal + 1 + q) % 3].lines.push_back({at, em::metal_line, owner});
  }
}

/// A wire along the axes lies on lines of the grid, and so do its bends; its ends may lie between
/// two.
void add_wires(const CaseOptions& o, std::array<em::AxisDemands, 3>& to) {
  for (std::size_t w = 0; w < o.wires.size(); ++w) {
    const WireOptions& wire = o.wires[w];
    if (is_oblique(wire)) continue;
    const std::string owner = "wire '" + (wire.name.empty() ? std::to_string(w) : wire.name) + "'";
    bool closed = true;
    for (std::size_t d = 0; d < 3; ++d)
      closed = closed && same_coordinate(wire, wire.points.front()[d], wire.points.back()[d]);
    for (std::size_t k = 0; k < wire.points.size(); ++k)
      for (std::size_t d = 0; d < 3; ++d) {
        const double x = wire.points[k][d];
        const bool at_an_end = !closed && (k == 0 || k + 1 == wire.points.size()),
                   along = !same_coordinate(wire, wire.points[k == 0 ? 1 : k - 1][d], x);
        if (!at_an_end || !along) to[d].lines.push_back({x, kPortLine, owner});
      }
  }
}

void add_refined(const GridOptions& g, int axis, em::AxisDemands& to) {
  const auto& list = g.axis(axis).refine;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::string name = fmt::format("grid.{}.refine[{}]", "xyz"[axis], k);
    to.cells.push_back({list[k].from, list[k].to, list[k].cell, name});
    for (const double x : {list[k].from, list[k].to}) to.lines.push_back({x, kPortLine, name});
  }
}

/// What a floor for the smallest cell leaves no room for is refused; what else asks for less gets
/// it.
void keep_floor(const AutoGridOptions& o, em::SceneDemands& demands, const data::Config& config) {
  if (!o.min_cell) return;
  const double least = *o.min_cell * (1 - 1e-9);
  std::vector<data::Diagnostic> findings;
  for (const em::SceneDemands::Gap& g : demands.gaps)
    if (g.width / o.gap_cells < least && findings.size() < 20)
      findings.push_back(config.error(
          620, "grid.auto.min_cell",
          fmt::format("cells of {} or more are too long for {}, {} along {}, which is to have {} "
                      "cells",
                      metres(*o.min_cell), g.reason, metres(g.width), "xyz"[g.axis], o.gap_cells),
          fmt::format("let it be {} or less, or grid.auto.gap_cells less",
                      metres(g.width / o.gap_cells))));
  std::sort(findings.begin(), findings.end(),
            [](const auto& a, const auto& b) { return a.message < b.message; });
  findings.erase(std::unique(findings.begin(), findings.end(),
                             [](const auto& a, const auto& b) { return a.message == b.message; }),
                 findings.end());
  for (em::AxisDemands& a : demands.axes) {
    if (a.cell < least && findings.empty())
      findings.push_back(
          config.error(620, "grid.auto.min_cell",
                       fmt::format("cells of {} or more are too long for {}, which asks for {}",
                                   metres(*o.min_cell), a.reason, metres(a.cell)),
                       "a lower floor, or fewer cells_per_wavelength"));
    for (em::CellDemand& c : a.cells) {
      if (c.cell < least && c.reason.starts_with("the wavelength") && findings.empty())
        findings.push_back(
            config.error(620, "grid.auto.min_cell",
                         fmt::format("cells of {} or more are too long for {}, which asks for {}",
                                     metres(*o.min_cell), c.reason, metres(c.cell)),
                         "a lower floor, or fewer cells_per_wavelength"));
      c.cell = std::max(c.cell, *o.min_cell);
    }
  }
  if (!findings.empty()) refuse(std::move(findings));
}

em::SceneDemands demands_of(const Case& c, const data::Config& config) {
  const CaseOptions& o = c.options;
  const AutoGridOptions& own = *o.grid.automatic;
  em::SceneDemandOptions how{.cells_per_wavelength = own.cells_per_wavelength,
                             .frequencies_hz = frequencies(c, config),
                             .gap_cells = own.gap_cells,
                             .layer_cells = own.layer_cells};
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      const auto u = static_cast<std::size_t>(d);
      how.mirrors[u][high] = o.boundary.is_symmetry(d, high);
      how.walls[u][high] =
          !how.mirrors[u][high] && (high ? o.boundary.high(d) : o.boundary.low(d)) == Face::pec;
    }
  em::SceneDemands out = em::scene_demands(c.scene, c.media, domain_of(o.grid), how);
  add_ports(o, out.axes);
  add_sheets(o, out.axes);
  add_wires(o, out.axes);
  for (int d = 0; d < 3; ++d) {
    em::AxisDemands& a = out.axes[static_cast<std::size_t>(d)];
    a.joined = o.boundary.low(d) == Face::periodic || o.boundary.low(d) == Face::bloch;
    add_refined(o.grid, d, a);
  }
  keep_floor(own, out, config);
  return out;
}

/// What the smallest of all cells costs: the grid without what made it.
void tell_cost(AutoGrid& made, const std::array<em::AxisDemands, 3>& demands,
               const em::LineRules& rules, const em::YeeGrid& grid) {
  int axis = -1;
  double least = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (const auto& a = made.axes[static_cast<std::size_t>(d)]; a.made && a.smallest_m < least)
      least = a.smallest_m, axis = d;
  if (axis < 0) return;
  const auto u = static_cast<std::size_t>(axis);
  made.smallest_axis = axis;
  em::YeeGrid other = grid;
  other.lines[u] = em::demanded_lines(em::without(demands[u], made.axes[u].culprit), rules).lines;
  if (other.lines[u] == grid.lines[u]) return;
  const double step = std::sqrt(em::curl_curl_bound(grid) / em::curl_curl_bound(other)),
               cells =
                   static_cast<double>(other.cell_count()) / static_cast<double>(grid.cell_count());
  if (std::abs(step - 1) < 0.01 && std::abs(cells - 1) < 0.01) return;
  made.cost = {{other.smallest_length(axis), step, cells}};
}

}  // namespace

void make_automatic_lines(Case& c, const data::Config& config) {
  GridOptions& g = c.options.grid;
  if (!g.automatic) return;
  const em::LineRules rules{.ratio = g.max_ratio, .least = g.automatic->min_cell.value_or(0)};
  em::SceneDemands demands;
  bool any = false;
  for (int d = 0; d < 3; ++d) any = any || (g.resolved(d) && g.axis(d).lines.empty());
  if (!any) return;
  demands = demands_of(c, config);
  c.auto_grid.one_of = demands.one_of;
  em::YeeGrid grid;
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    grid.lines[u] = g.axis(d).lines.empty() ? std::vector<double>{0, 1} : g.axis(d).lines;
    if (!g.resolved(d) || !g.axis(d).lines.empty()) continue;
    try {
      em::DemandedLines made = em::demanded_lines(demands.axes[u], rules);
      AutoGrid::Axis& told = c.auto_grid.axes[u];
      told = {.made = true,
              .smallest_m = made.lines[made.smallest + 1] - made.lines[made.smallest],
              .smallest_at = (made.lines[made.smallest + 1] + made.lines[made.smallest]) / 2,
              .ratio = made.ratio,
              .culprit = std::move(made.culprit),
              .dropped = std::move(made.dropped)};
      grid.lines[u] = std::move(made.lines);
    } catch (const Error& e) {
      refuse({config.error(641, "grid.auto", e.what(),
                           "fewer cells in a wavelength, a floor (grid.auto.min_cell), a smaller "
                           "domain")});
    }
  }
  for (int d = 0; d < 3; ++d)
    if (!g.resolved(d)) grid.lines[static_cast<std::size_t>(d)] = {0, grid.smallest_length(0)};
  tell_cost(c.auto_grid, demands.axes, rules, grid);
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    if (!c.auto_grid.axes[u].made) continue;
    g.axis(d).lines = grid.lines[u];
    g.axis(d).refine.clear();
  }
}

std::string lines_as_toml(const Case& c) {
  std::string out;
  for (int d = 0; d < 3; ++d) {
    if (!c.grid.resolved(d)) continue;
    out += fmt::format("[grid.{}]\nlines = [", "xyz"[d]);
    const auto& lines = c.grid.lines[static_cast<std::size_t>(d)];
    for (std::size_t i = 0; i < lines.size(); ++i)
      out += fmt::format("{}{}\"{}\"", i == 0 ? "" : ",", i % 8 == 0 ? "\n  " : " ",
                         data::print_quantity(lines[i], "um"));
    out += "\n]\n";
  }
  return out;
}

std::vector<std::string> chosen_lines(const Case& c) {
  std::vector<std::string> out;
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    if (!c.auto_grid.axes[u].made) continue;
    std::string list;
    for (const double x : c.grid.lines[u])
      list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", data::print_quantity(x, "um"));
    out.push_back(fmt::format("grid.{}.lines=[{}]", "xyz"[d], list));
    out.push_back(fmt::format("grid.{}.refine=[]", "xyz"[d]));
  }
  return out;
}

}  // namespace tessera::apps::waves
