// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/plane_wave.h"

#include "spectra/directions.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/box_surface.h"
#include "time_domain/line_filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>

namespace tessera::electromagnetics {

using namespace time_domain;

namespace {

Box box_of(const YeeGrid& grid, const std::array<Faces, 3>& faces, const PlaneWave& wave) {
  Box box;
  for (int d = 0; d < 3; ++d) {
    const int n = grid.cells(d);
    box.low[d] = nearest_line(grid.lines[d], wave.low[d]);
    box.high[d] = nearest_line(grid.lines[d], wave.high[d]);
    box.open[d] = !grid.resolved(d) ||
                  (faces[d].low == Boundary::periodic && box.low[d] == 0 && box.high[d] == n);
    if (!grid.resolved(d)) box.low[d] = 0, box.high[d] = 1;
    if (box.open[d]) continue;
    const auto mirror = [](Boundary b) { return b == Boundary::pec || b == Boundary::pmc; };
    const bool low = box.low[d] > 0 || mirror(faces[d].low),
               high = box.high[d] < n || mirror(faces[d].high);
    if (!low || !high || box.low[d] >= box.high[d])
      throw Error(
          fmt::format("[plane_wave] the box from {} to {} m on axis {} becomes lines {} to {} of "
                      "{}: it needs a cell of width, and room to the "
                      "sides of the domain unless these are mirrors or joined",
                      wave.low[d], wave.high[d], "xyz"[d], box.low[d], box.high[d], n));
  }
  return box;
}

/// Cells of an axis from one before the box to one behind it.
std::array<int, 2> cells_about(const YeeGrid& grid, const Box& box, int d) {
  return {std::max(box.low[d] - 1, 0), std::min(box.high[d], grid.cells(d) - 1)};
}

/// Where cells are uneven along the axis that the wave runs along, `uneven` becomes that axis.
GridWave grid_wave(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Box& box,
                   double dt_s, const PlaneWave& wave, int& uneven) {
  const Point u = detail::normalised(wave.direction, "plane_wave", "direction");
  GridWave g{.cell = {},
             .dt = dt_s,
             .u = u,
             .p = detail::transverse(wave.polarization, u, "plane_wave"),
             .eps = wave.eps,
             .mu = wave.mu};
  for (int d = 0; d < 3; ++d) {
    const char name = "xyz"[d];
    const int n = grid.cells(d);
    for (const bool at_low : {true, false}) {
      const bool touches = !box.open[d] && (at_low ? box.low[d] == 0 : box.high[d] == n);
      const Boundary face = at_low ? faces[d].low : faces[d].high;
      if ((touches || box.open[d]) && g.u[d] != 0)
        throw Error(
            fmt::format("[plane_wave] the box fills axis {}, so the wave must run across it; its "
                        "direction has {} there",
                        name, g.u[d]));
      if (touches && std::abs(std::abs(g.p[d]) - (face == Boundary::pec ? 1 : 0)) > 1e-9)
        throw Error(fmt::format("[plane_wave] at the mirror on axis {} E must be {} it", name,
                                face == Boundary::pec ? "along" : "across"));
    }
    if (g.u[d] == 0) continue;
    g.cell[d] = grid.length(d, box.low[d]);
    double longest = g.cell[d];
    bool even = true;
    for (int i = cells_about(grid, box, d)[0]; i <= cells_about(grid, box, d)[1]; ++i) {
      even = even && std::abs(grid.length(d, i) - g.cell[d]) <= 1e-6 * g.cell[d];
      longest = std::max(longest, grid.length(d, i));
    }
    if (even) continue;
    if (std::abs(g.u[d]) != 1)
      throw Error(
          fmt::format("[plane_wave] cells on axis {} are uneven from one before the box to one "
                      "behind it, and the wave runs at an angle to it: let the wave "
                      "run along an axis, make these cells even and grade the grid outside of "
                      "them, or make the box smaller",
                      name));
    g.cell[d] = longest;
    uneven = d;
  }
  return g;
}

Point corner_of(const YeeGrid& grid, const Box& box, const Point& u) {
  Point at;
  for (int d = 0; d < 3; ++d) {
    const std::vector<double>& x = grid.lines[d];
    at[d] = u[d] > 0   ? x[box.low[d]]
            : u[d] < 0 ? x[box.high[d]]
                       : (x[box.low[d]] + x[box.high[d]]) / 2;
  }
  return at;
}

/// Nodes and middles of an uneven axis in the order in which the wave meets them.
struct Order {
  int axis;
  bool up;
  std::array<int, 2> cells;
  std::size_t of(const Edge& e) const {
    const int at[3] = {e.i, e.j, e.k}, i = at[axis];
    return static_cast<std::size_t>(
        up ? i - cells[0] : (at_middle(e.component, axis) ? cells[1] : cells[1] + 1) - i);
  }
  UnevenLine line(const YeeGrid& grid, const Box& box) const {
    UnevenLine out{.lengths = {},
                   .corner = static_cast<std::size_t>(up ? box.low[axis] - cells[0]
                                                         : cells[1] + 1 - box.high[axis])};
    for (int i = cells[0]; i <= cells[1]; ++i) out.lengths.push_back(grid.length(axis, i));
    if (!up) std::reverse(out.lengths.begin(), out.lengths.end());
    return out;
  }
};

constexpr int steps_at_once = 16;

/// The surface's currents from the fields on the line.
struct Sheet {
  struct Entry {
    std::int64_t point;  ///< the first of six
    std::array<double, 6> weight;
  };
  std::vector<Filter> filters;  ///< of all points that are used
  std::vector<Entry> entries;
  std::vector<std::int64_t> first_entry;  ///< of each column
  Waveform waveform;
  double dt;
  std::int64_t shortest = 0, longest = 0;  ///< least and largest delay in the filters, in steps

  /// The currents of up to steps_at_once steps.
  void fill(std::int64_t first, int n, double* currents) const {
    const auto columns = static_cast<std::int64_t>(first_entry.size()) - 1;
    std::vector<double> w(static_cast<std::size_t>(longest - shortest + steps_at_once + 1), 0.0);
    for (std::int64_t s = 0; s <= longest - shortest + n - 1; ++s) {
      const double t = static_cast<double>(first - longest + s) * dt;
      if (t >= 0 && t <= waveform.end_s) w[static_cast<std::size_t>(s)] = waveform.at(t);
    }
    const auto points = static_cast<std::int64_t>(filters.size());
    std::vector<double> line(filters.size() * steps_at_once);
    constexpr std::int64_t chunk = 64;
    parallel_chunks((points + chunk - 1) / chunk, [&](std::int64_t c) {
      for (std::int64_t m = c * chunk; m < std::min(points, (c + 1) * chunk); ++m) {
        const Filter& f = filters[static_cast<std::size_t>(m)];
        double sum[steps_at_once] = {};
        for (std::size_t j = 0; j < f.taps.size(); ++j) {
          const double* at = w.data() + longest - f.lead - static_cast<std::int64_t>(j);
          for (int q = 0; q < steps_at_once; ++q) sum[q] += f.taps[j] * at[q];
        }
        std::copy_n(sum, steps_at_once, line.data() + m * steps_at_once);
      }
    });
    constexpr std::int64_t tile = 128;  // columns whose steps are written side by side
    parallel_chunks((columns + tile - 1) / tile, [&](std::int64_t c) {
      const std::int64_t begin = c * tile, count = std::min(columns - begin, tile);
      double sums[tile][steps_at_once] = {};
      for (std::int64_t m = 0; m < count; ++m)
        for (std::int64_t x = first_entry[static_cast<std::size_t>(begin + m)];
             x < first_entry[static_cast<std::size_t>(begin + m) + 1]; ++x) {
          const Entry& e = entries[static_cast<std::size_t>(x)];
          const double* at = line.data() + e.point * steps_at_once;
          for (int i = 0; i < 6; ++i)
            for (int q = 0; q < steps_at_once; ++q)
              sums[m][q] += e.weight[static_cast<std::size_t>(i)] * at[i * steps_at_once + q];
        }
      for (int q = 0; q < n; ++q)
        for (std::int64_t m = 0; m < count; ++m) currents[q * columns + begin + m] = sums[m][q];
    });
  }
};

/// What an edge takes from the line; false where its component is zero.
using EntryOf = std::function<bool(const Edge&, Sheet::Entry&)>;

/// Even cells: points at m * spacing that some edge needs, by component, and a polynomial between
/// them.
EntryOf entries_by_distance(const YeeGrid& grid, const Surface& surface, const Point& corner,
                            const GridWave& g, const Band& band, Sheet& sheet) {
  double spacing = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (g.u[d] != 0) spacing = std::min(spacing, g.cell[d] / 4);
  const auto distance = [&grid, g, corner, spacing](const Edge& e) {
    const Point at = grid.position(e);
    double d = 0;
    for (int a = 0; a < 3; ++a) d += g.u[a] == 0 ? 0 : g.u[a] * (at[a] - corner[a]);
    return d / spacing;
  };
  const auto point_before = [distance](const Edge& e) {
    return static_cast<std::int64_t>(std::floor(distance(e) + 1e-9));
  };
  std::int64_t least = 0, most = 0;
  for (const Term& t : surface.terms) {
    least = std::min(least, point_before(t.edge) - 2);
    most = std::max(most, point_before(t.edge) + 4);
  }
  std::array<std::vector<std::int64_t>, 6> number;
  for (int c = 0; c < 6; ++c) {
    number[c].assign(static_cast<std::size_t>(most - least), -1);
    for (const Term& t : surface.terms)
      if (t.edge.component == c) {
        const std::int64_t m = point_before(t.edge) - least - 2;
        for (int i = 0; i < 6; ++i) number[c][static_cast<std::size_t>(m + i)] = 0;
      }
    std::vector<double> distances;
    for (std::size_t m = 0; m < number[c].size(); ++m)
      if (number[c][m] == 0) {
        number[c][m] = static_cast<std::int64_t>(sheet.filters.size() + distances.size());
        distances.push_back(static_cast<double>(static_cast<std::int64_t>(m) + least) * spacing);
      }
    if (distances.empty()) continue;
    std::vector<Filter> filters = line_filters(g, band, c, distances);
    if (filters.empty()) number[c].clear();
    sheet.filters.insert(sheet.filters.end(), std::make_move_iterator(filters.begin()),
                         std::make_move_iterator(filters.end()));
  }
  return [number, distance, point_before, least](const Edge& e, Sheet::Entry& entry) {
    if (number[e.component].empty()) return false;
    const std::int64_t before = point_before(e);
    entry = {number[e.component][static_cast<std::size_t>(before - least - 2)],
             lagrange(distance(e) - static_cast<double>(before))};
    return true;
  };
}

/// Uneven cells: a filter for each node and each middle.
EntryOf entries_by_index(const Order& order, const YeeGrid& grid, const Box& box, const GridWave& g,
                         const Band& band, Sheet& sheet) {
  const UnevenLine line = order.line(grid, box);
  std::array<std::int64_t, 6> first;
  for (int c = 0; c < 6; ++c) {
    const std::vector<Filter> filters = uneven_filters(g, band, c, line);
    first[c] = filters.empty() ? -1 : static_cast<std::int64_t>(sheet.filters.size());
    sheet.filters.insert(sheet.filters.end(), filters.begin(), filters.end());
  }
  sheet.filters.resize(sheet.filters.size() + 5,
                       Filter{sheet.filters.front().lead, {0.0}});  // entries reach over six points
  return [order, first](const Edge& e, Sheet::Entry& entry) {
    if (first[e.component] < 0) return false;
    entry = {first[e.component] + static_cast<std::int64_t>(order.of(e)), {1, 0, 0, 0, 0, 0}};
    return true;
  };
}

}  // namespace

Point unit_vector(const Direction& d) {
  Point u{std::sin(d.theta) * std::cos(d.phi), std::sin(d.theta) * std::sin(d.phi),
          std::cos(d.theta)};
  for (double& x : u)
    if (std::abs(x) < 1e-12) x = 0;
  return u;
}

Point first_corner(const YeeGrid& grid, const std::array<Faces, 3>& faces, const PlaneWave& wave) {
  return corner_of(grid, box_of(grid, faces, wave),
                   detail::normalised(wave.direction, "plane_wave", "direction"));
}

double grid_wavenumber(const Point& cell, double dt_s, const Point& u, double eps_mu,
                       double frequency_hz) {
  const GridWave wave{.cell = cell, .dt = dt_s, .u = u, .p = {}, .eps = eps_mu, .mu = 1};
  const double angle = 2 * std::numbers::pi * frequency_hz * dt_s;
  if (!(angle <= wave.largest_angle())) return std::numeric_limits<double>::quiet_NaN();
  return wave.wavenumber(angle, angle * std::sqrt(eps_mu) / (speed_of_light * dt_s));
}

double incident_flow(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s,
                     const PlaneWave& wave, double frequency_hz) {
  const Box box = box_of(grid, faces, wave);
  const Point u = detail::normalised(wave.direction, "plane_wave", "direction");
  Point cell;  // behind the corner: along uneven cells the flow is the same everywhere
  for (int d = 0; d < 3; ++d) cell[d] = grid.length(d, u[d] < 0 ? box.high[d] - 1 : box.low[d]);
  const double k = grid_wavenumber(cell, dt_s, u, wave.eps * wave.mu, frequency_hz);
  double flow = 0, all = 0;
  for (int d = 0; d < 3; ++d) {
    const double x = k * u[d] * cell[d] / 2, big_k = std::sin(x) / cell[d];
    flow += std::pow(big_k * std::cos(x), 2), all += big_k * big_k;
  }
  return std::sqrt(flow / all);
}

Injection plane_wave(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s,
                     const PlaneWave& wave) {
  if (!(wave.eps > 0) || !(wave.mu > 0) || !(dt_s > 0))
    throw Error("[plane_wave] eps, mu and the time step must be positive");
  const Box box = box_of(grid, faces, wave);
  int uneven = -1;
  const GridWave g = grid_wave(grid, faces, box, dt_s, wave, uneven);
  const Surface surface = surface_of(grid, faces, box);
  auto sheet = std::make_shared<Sheet>();
  sheet->waveform = wave.waveform;
  sheet->dt = dt_s;
  const Band band = band_of(g, wave.waveform);
  const EntryOf entry_of =
      uneven >= 0 ? entries_by_index({uneven, g.u[uneven] > 0, cells_about(grid, box, uneven)},
                                     grid, box, g, band, *sheet)
                  : entries_by_distance(grid, surface, corner_of(grid, box, g.u), g, band, *sheet);

  Injection out;
  std::int64_t last = -1;
  for (const Term& t : surface.terms) {
    Sheet::Entry entry;
    if (!entry_of(t.edge, entry)) continue;
    if (t.column != last) {
      out.edges.push_back(surface.edges[static_cast<std::size_t>(t.column)]);
      sheet->first_entry.push_back(static_cast<std::int64_t>(sheet->entries.size()));
      last = t.column;
    }
    for (double& w : entry.weight) w *= wave.amplitude * t.factor;
    sheet->entries.push_back(entry);
  }
  sheet->first_entry.push_back(static_cast<std::int64_t>(sheet->entries.size()));
  sheet->shortest = std::numeric_limits<std::int64_t>::max();
  sheet->longest = std::numeric_limits<std::int64_t>::min();
  for (const Filter& f : sheet->filters) {
    sheet->shortest = std::min(sheet->shortest, f.lead);
    sheet->longest =
        std::max(sheet->longest, f.lead + static_cast<std::int64_t>(f.taps.size()) - 1);
  }
  out.end_s = wave.waveform.end_s + static_cast<double>(sheet->longest + 1) * dt_s;
  out.fill = [sheet](std::int64_t first, std::int64_t n_steps, double* currents) {
    const auto columns = static_cast<std::int64_t>(sheet->first_entry.size()) - 1;
    for (std::int64_t n = 0; n < n_steps; n += steps_at_once)
      sheet->fill(first + n, static_cast<int>(std::min<std::int64_t>(steps_at_once, n_steps - n)),
                  currents + n * columns);
  };
  return out;
}

}  // namespace tessera::electromagnetics
