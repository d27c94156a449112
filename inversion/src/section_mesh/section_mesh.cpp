// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_mesh.h"

#include "tessera/autodiff/error.h"
#include "tessera/inversion/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace tessera::inversion {

SectionStations section_stations(const Survey& survey) {
  SectionStations out;
  Ground2d known;
  for (const Station& s : survey.stations) {
    out.y.push_back(s.distance_m);
    out.tilt.push_back(s.tilt_deg * std::numbers::pi / 180);
    const auto z = z_of(s);
    if (!z || (!known.y.empty() && !(s.distance_m > known.y.back()))) continue;
    known.y.push_back(s.distance_m);
    known.z.push_back(*z);
  }
  const auto between =
      known.y.empty() ? [](double) { return 0.0; } : depth_through(known.y, known.z);
  for (const Station& s : survey.stations) out.z.push_back(z_of(s).value_or(between(s.distance_m)));
  return out;
}

SectionScales section_scales(const DataTable& data, double otherwise_ohm_m) {
  std::vector<double> rho, depth;
  std::map<std::pair<std::int64_t, Element>, double> greatest;
  const auto add = [&](double rho_a, double f, std::int64_t station, Element element) {
    if (!(rho_a > 0) || !std::isfinite(rho_a)) return;
    rho.push_back(rho_a);
    depth.push_back(std::sqrt(rho_a / (2 * std::numbers::pi * f * mu0)));
    double& most = greatest[{station, element}];
    most = std::max(most, depth.back());
  };
  std::map<std::tuple<std::int64_t, double, Element>, std::pair<double, double>> parts;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto [element, part] = data.kind[i];
    if (element == Element::tx || element == Element::ty || element == Element::xx ||
        element == Element::yy)
      continue;
    if (part == Part::log10_rho)
      add(std::pow(10, data.value[i]), data.frequency_hz[i], data.station[i], element);
    if (part != Part::real && part != Part::imag) continue;
    const double nan = std::nan("");
    auto& z =
        parts.try_emplace({data.station[i], data.frequency_hz[i], element}, nan, nan).first->second;
    (part == Part::real ? z.first : z.second) = data.value[i];
  }
  for (const auto& [key, z] : parts) {
    const auto& [station, f, element] = key;
    add((z.first * z.first + z.second * z.second) / (2 * std::numbers::pi * f * mu0), f, station,
        element);
  }
  if (data.size() == 0) throw Error("[section_scales] there are no data");
  const auto [low, high] = std::minmax_element(data.frequency_hz.begin(), data.frequency_hz.end());
  if (rho.empty()) {
    add(otherwise_ohm_m, *low, 0, Element::xy);
    add(otherwise_ohm_m, *high, 0, Element::xy);
  }
  std::sort(rho.begin(), rho.end());
  std::sort(depth.begin(), depth.end());
  const std::size_t n = rho.size(), cut = n / 50;
  std::vector<double> reach;
  for (const auto& [curve, most] : greatest) reach.push_back(most);
  std::sort(reach.begin(), reach.end());
  return {.ohm_m = rho[n / 2],
          .shallowest_m = depth[cut],
          .deepest_m = depth[n - 1 - cut],
          .reach_m = reach[reach.size() / 2],
          .lowest_hz = *low,
          .highest_hz = *high};
}

namespace {

[[noreturn]] void fail(const std::string& what) { throw Error("[section_mesh] " + what); }

void require_length(double x, const char* what) {
  if (!(x > 0) || !std::isfinite(x)) fail(fmt::format("{} must be a length above 0", what));
}

/// Values from `from` on with steps that grow, until `reach` is passed.
std::vector<double> growing(double from, double step, double growth, double reach) {
  std::vector<double> out{from};
  while (out.back() - from < reach * (1 - 1e-9)) {
    out.push_back(out.back() + step);
    step *= growth;
    if (out.size() > 100'000) fail("there are more than 100,000 rows or columns");
  }
  return out;
}

/// The stations of a section from left to right, and how wide cells are there.
struct Places {
  std::vector<double> y, width, gap;  ///< gap: distance of the nearer neighbour
  std::vector<double> solver_width;
};

Places places_of(const SectionStations& s, const SectionScales& scales,
                 const SectionMeshOptions& o) {
  const std::size_t n = s.y.size();
  if (!o.split_columns.empty() && o.split_columns.size() != n)
    fail(fmt::format("split_columns are of {} stations, there are {}", o.split_columns.size(), n));
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return s.y[a] < s.y[b]; });
  Places p;
  for (const std::size_t k : order) p.y.push_back(s.y[k]);
  const double span = p.y.back() - p.y.front();
  for (std::size_t k = 0; k < n; ++k) {
    double gap = std::numeric_limits<double>::infinity();
    if (k > 0) gap = p.y[k] - p.y[k - 1];
    if (k + 1 < n) gap = std::min(gap, p.y[k + 1] - p.y[k]);
    if (gap <= 1e-9 * span)
      fail(fmt::format("two stations stand on one another at y = {:.6g} m", p.y[k]));
    if (n == 1) gap = 2 * o.cell_width_m.value_or(scales.shallowest_m);
    p.gap.push_back(gap);
    p.width.push_back(std::min(o.cell_width_m.value_or(gap / 2), gap));
    const int parts = o.split_columns.empty() ? 1 : o.split_columns[order[k]];
    if (parts < 1) fail("split_columns must be 1 or more");
    p.solver_width.push_back(p.width.back() / (o.columns_of_cell * parts));
  }
  return p;
}

/// Width of cells at y: that at stations, `width`, growing away from them.
double width_at(const Places& p, const std::vector<double>& width, double y, double rate) {
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < p.y.size(); ++k)
    out = std::min(out, width[k] + rate * std::max(0.0, std::abs(y - p.y[k]) - p.gap[k] / 2));
  return out;
}

/// Edges of the columns below stations and their margins; stations stand in the middle of cells.
std::vector<double> inner_columns(const Places& p, const SectionMeshOptions& o) {
  std::vector<double> through{p.y.front() - p.width.front() / 2 -
                              std::max(0.0, o.margin) * p.gap.front()};
  if (o.margin <= 0) through.clear();
  for (std::size_t k = 0; k < p.y.size(); ++k)
    for (const double side : {-0.5, 0.5}) {
      const double at = p.y[k] + side * p.width[k];
      // Cells of neighbours that all but meet share an edge.
      if (through.empty() || at > through.back() + 0.3 * p.width[k]) through.push_back(at);
    }
  if (o.margin > 0) through.push_back(p.y.back() + p.width.back() / 2 + o.margin * p.gap.back());
  return graded_axis(through, [&](double y) { return width_at(p, p.width, y, 0.3); });
}

/// Heights and depths, given or of the data.
struct Sizes {
  double first_cell, depth, padding, first_solver;
};

Sizes sizes_of(const SectionStations& s, const SectionScales& scales, const SectionMeshOptions& o) {
  const std::size_t n = s.y.size();
  if (n == 0 || s.z.size() != n || (!s.tilt.empty() && s.tilt.size() != n))
    fail(
        fmt::format("there are {} y, {} z and {} tilts of stations", n, s.z.size(), s.tilt.size()));
  for (std::size_t k = 0; k < n; ++k)
    if (!std::isfinite(s.y[k]) || !std::isfinite(s.z[k]))
      fail(fmt::format("station {} has no place", k));
  require_length(scales.shallowest_m, "scales.shallowest_m");
  require_length(scales.deepest_m, "scales.deepest_m");
  const Sizes out{
      .first_cell = o.first_cell_m.value_or(scales.shallowest_m / 4),
      .depth = o.depth_m.value_or(1.5 * scales.reach_m.value_or(scales.deepest_m)),
      .padding = o.padding_m.value_or(4.2 * scales.deepest_m),
      .first_solver = o.first_solver_m.value_or(scales.shallowest_m / (o.order == 1 ? 5 : 2)) /
                      std::max(1, o.split_rows)};
  require_length(out.first_cell, "first_cell_m");
  require_length(out.depth, "depth_m");
  require_length(out.padding, "padding_m");
  require_length(out.first_solver, "first_solver_m");
  if (o.cell_width_m) require_length(*o.cell_width_m, "cell_width_m");
  if (!(o.growth >= 1) || !(o.padding_growth > 1) || !(o.air_growth > 1) || !(o.solver_rate > 0) ||
      o.columns_of_cell < 1 || o.split_rows < 1)
    fail("growths must be above 1, solver_rate above 0, columns_of_cell and split_rows 1 or more");
  return out;
}

/// The flat section's edges of columns and rows, padding included; those of columns without it.
struct Flat {
  std::vector<double> y, depth, inner;
  Index rows = 0;  ///< that are no padding
};

Flat flat_section(const Places& places, const Sizes& sizes, const SectionMeshOptions& o) {
  Flat flat{.inner = inner_columns(places, o)};
  const std::vector<double>& inner = flat.inner;
  const auto pad = [&](double width) {
    return growing(0, width * o.padding_growth, o.padding_growth, sizes.padding);
  };
  const std::vector<double> left = pad(inner[1] - inner[0]),
                            right = pad(inner.back() - inner[inner.size() - 2]);
  for (std::size_t k = left.size(); k-- > 1;) flat.y.push_back(inner.front() - left[k]);
  flat.y.insert(flat.y.end(), inner.begin(), inner.end());
  for (std::size_t k = 1; k < right.size(); ++k) flat.y.push_back(inner.back() + right[k]);
  flat.depth = growing(0, sizes.first_cell, o.growth, sizes.depth);
  flat.rows = static_cast<Index>(flat.depth.size()) - 1;
  const double reached = flat.depth.back(), last = reached - flat.depth[flat.depth.size() - 2];
  if (sizes.padding > reached)
    for (const double d :
         growing(reached, last * o.padding_growth, o.padding_growth, sizes.padding - reached))
      if (d > reached) flat.depth.push_back(d);
  return flat;
}

std::function<double(double)> line_of(const Ground2d& g, const char* what) {
  if (g.y.size() != g.z.size() || g.y.empty())
    fail(fmt::format("{} has {} y and {} z", what, g.y.size(), g.z.size()));
  for (std::size_t k = 1; k < g.y.size(); ++k)
    if (!(g.y[k] > g.y[k - 1]))
      fail(fmt::format("{} does not go from left to right after y = {:.6g} m", what, g.y[k - 1]));
  return depth_through(g.y, g.z);
}

/// Smooth through points, between them nowhere beyond both (F. Fritsch and R. Carlson 1980,
/// doi:10.1137/0717021, with slopes by K. Brodlie's mean), level outside.
std::function<double(double)> smooth_through(std::vector<double> y, std::vector<double> z) {
  const std::size_t n = y.size();
  std::vector<double> slope(n, 0.0);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const double h0 = y[k] - y[k - 1], h1 = y[k + 1] - y[k], s0 = (z[k] - z[k - 1]) / h0,
                 s1 = (z[k + 1] - z[k]) / h1, a = (h0 + 2 * h1) / (3 * (h0 + h1));
    if (s0 * s1 > 0) slope[k] = s0 * s1 / (a * s1 + (1 - a) * s0);
  }
  return [y = std::move(y), z = std::move(z), slope](double at) {
    const auto above =
        static_cast<std::size_t>(std::upper_bound(y.begin(), y.end(), at) - y.begin());
    if (above == 0) return z.front();
    if (above == y.size()) return z.back();
    const std::size_t k = above - 1;
    const double h = y[k + 1] - y[k], t = (at - y[k]) / h, u = 1 - t;
    return u * u * (1 + 2 * t) * z[k] + t * t * (1 + 2 * u) * z[k + 1] +
           h * t * u * (u * slope[k] - t * slope[k + 1]);
  };
}

/// Extremes of a line over the section.
std::pair<double, double> range_of(const std::function<double(double)>& line,
                                   const std::vector<double>& y, const std::vector<double>& more) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto* values : {&y, &more})
    for (const double at : *values) {
      if (at < y.front() || at > y.back()) continue;
      low = std::min(low, line(at));
      high = std::max(high, line(at));
    }
  return {low, high};
}

/// The ground, and the sea above it.
struct Relief {
  std::function<double(double)> ground;
  double lowest = 0;   ///< greatest z of the ground
  double surface = 0;  ///< of the sea; without one the highest ground
  double sea = 0;      ///< mean depth
};

Relief relief_of(const SectionStations& s, const std::vector<double>& y,
                 const SectionMeshOptions& o) {
  Ground2d through;
  if (o.sea) {
    through = o.sea->floor;
  } else if (o.ground) {
    through = *o.ground;
  } else {
    std::vector<std::size_t> order(s.y.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return s.y[a] < s.y[b]; });
    for (const std::size_t k : order) {
      through.y.push_back(s.y[k]);
      through.z.push_back(s.z[k]);
    }
  }
  Relief out{.ground = o.sea      ? line_of(through, "the sea floor")
                       : o.ground ? line_of(through, "the ground")
                                  : smooth_through(through.y, through.z)};
  const auto [highest, lowest] = range_of(out.ground, y, through.y);
  out.lowest = lowest;
  out.surface = o.sea ? o.sea->surface_m : highest;
  if (!o.sea) return out;
  if (!(o.sea->ohm_m > 0)) fail("the sea needs a resistivity above 0");
  if (!(highest > out.surface))
    fail(fmt::format("the sea floor comes up to z = {:.6g} m, above the surface at {:.6g} m",
                     highest, out.surface));
  out.sea = (highest + lowest) / 2 - out.surface;
  return out;
}

/// Where the ground is given stations stand on it, to a tenth of a column.
void require_on_ground(const SectionStations& s, const Places& places, const Relief& relief) {
  for (std::size_t k = 0; k < s.y.size(); ++k) {
    const double off = s.z[k] - relief.ground(s.y[k]),
                 width = width_at(places, places.width, s.y[k], 0.3);
    if (std::abs(off) > 0.1 * width + 1)
      fail(fmt::format("station {} at y = {:.6g} m {} by {:.4g} m", k, s.y[k],
                       off < 0 ? "hangs above the ground" : "lies below the ground",
                       std::abs(off)));
  }
}

Index index_in(const std::vector<double>& edges, double at) {
  const auto above = std::upper_bound(edges.begin(), edges.end(), at) - edges.begin();
  return std::clamp<Index>(above - 1, 0, static_cast<Index>(edges.size()) - 2);
}

}  // namespace

SectionMesh section_mesh(const SectionStations& stations, const SectionScales& scales,
                         const SectionMeshOptions& o) {
  const Sizes sizes = sizes_of(stations, scales, o);
  const Places places = places_of(stations, scales, o);
  const Flat flat = flat_section(places, sizes, o);
  const Relief relief = relief_of(stations, flat.y, o);
  if (o.sea || o.ground) require_on_ground(stations, places, relief);

  SectionMesh out;
  out.y = o.free_padding ? flat.y : flat.inner;
  out.columns = static_cast<Index>(out.y.size()) - 1;
  out.depth_m = flat.depth[static_cast<std::size_t>(flat.rows)];
  out.rows = o.free_padding ? static_cast<Index>(flat.depth.size()) - 1 : flat.rows;
  out.depth.assign(flat.depth.begin(), flat.depth.begin() + out.rows + 1);
  out.base = flat.depth.back();
  const MediumAt medium = [&](double y, double z) -> Medium2d {
    if (z < 0) return air();
    if (z < relief.sea) return {.ohm_m = o.sea->ohm_m};
    return {.parameter = index_in(out.y, y) * out.rows + index_in(out.depth, z - relief.sea)};
  };
  // Rows from the surface down, of the model and of the solver.
  std::vector<double> z = flat.depth;
  for (double& x : z) x += relief.sea;
  if (o.sea) z.insert(z.begin(), 0.0);
  const std::vector<double> solver_y = graded_axis(flat.y, [&](double y) {
    return width_at(places, places.solver_width, y, o.padding_growth - 1);
  });
  const double rate = o.solver_rate / o.split_rows;
  const std::vector<double> solver_z = graded_axis(z, [&](double at) {
    const double size = sizes.first_solver + rate * std::abs(at - relief.sea);
    if (at >= relief.sea) return size;
    const double skin = std::sqrt(o.sea->ohm_m / (std::numbers::pi * mu0 * scales.highest_hz));
    return std::min(
        {size, skin / ((o.order == 1 ? 5 : 2) * o.split_rows), sizes.first_solver + rate * at});
  });
  const std::vector<double> up =
      growing(0, sizes.first_solver, o.air_growth, flat.y.back() - flat.y.front());
  std::vector<double> with_air;
  for (std::size_t k = up.size(); k-- > 1;) with_air.push_back(-up[k]);
  with_air.insert(with_air.end(), solver_z.begin(), solver_z.end());
  if (solver_y.size() * with_air.size() > o.most_nodes)
    fail(
        fmt::format("the solver's mesh would have {} x {} nodes, more than {}: give wider cells, a "
                    "greater first_solver_m, or leave out the highest frequencies",
                    solver_y.size(), with_air.size(), o.most_nodes));

  const double surface = relief.surface, base = relief.lowest + flat.depth.back(),
               sky = surface - up.back();
  std::vector<Level2d> levels;
  if (o.sea) levels.push_back({0, [surface](double) { return surface; }});
  levels.push_back({relief.sea, relief.ground});
  levels.push_back({z.back(), [base](double) { return base; }});
  const std::vector<double> of_lines = o.sea ? std::vector{0.0, relief.sea} : std::vector{0.0};
  out.cells = bent(tensor_mesh(flat.y, z, of_lines, medium), levels);
  levels.insert(levels.begin(), Level2d{with_air.front(), [sky](double) { return sky; }});
  out.solver = bent(tensor_mesh(solver_y, with_air, of_lines, medium), levels);
  out.sensors = sensors_on(out.solver, of_lines.size() - 1, stations.y, o.tilt_along_ground);
  if (!o.tilt_along_ground) out.sensors.tilt = stations.tilt;
  for (std::size_t k = 1; k < places.y.size(); ++k)
    if (index_in(out.y, places.y[k]) == index_in(out.y, places.y[k - 1]))
      out.remarks.push_back(
          fmt::format("stations at y = {:.6g} m and {:.6g} m stand above one column of cells",
                      places.y[k - 1], places.y[k]));
  return out;
}

std::function<double(double, double)> depths_below_ground(const SectionMesh& mesh) {
  std::vector<double> y, z;
  for (const Index v : mesh.cells.lines.back()) {
    y.push_back(mesh.cells.y[static_cast<std::size_t>(v)]);
    z.push_back(mesh.cells.z[static_cast<std::size_t>(v)]);
  }
  const double bottom = *std::max_element(mesh.cells.z.begin(), mesh.cells.z.end());
  return [ground = depth_through(std::move(y), std::move(z)), bottom, base = mesh.base](
             double at, double row) { return row * (bottom - ground(at)) / base; };
}

}  // namespace tessera::inversion
