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
  for (const Station& s : survey.stations) {
    out.y.push_back(s.distance_m);
    out.z.push_back(s.place_m && std::isfinite((*s.place_m)[2]) ? (*s.place_m)[2]
                    : s.elevation_m                             ? -*s.elevation_m
                                                                : 0.0);
    out.tilt.push_back(s.tilt_deg * std::numbers::pi / 180);
  }
  return out;
}

SectionScales section_scales(const DataTable& data, double otherwise_ohm_m) {
  std::vector<double> rho, depth;
  const auto add = [&](double rho_a, double f) {
    if (!(rho_a > 0) || !std::isfinite(rho_a)) return;
    rho.push_back(rho_a);
    depth.push_back(std::sqrt(rho_a / (2 * std::numbers::pi * f * mu0)));
  };
  std::map<std::tuple<std::int64_t, double, Element>, std::pair<double, double>> parts;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto [element, part] = data.kind[i];
    if (element == Element::tx || element == Element::ty || element == Element::xx ||
        element == Element::yy)
      continue;
    if (part == Part::log10_rho) add(std::pow(10, data.value[i]), data.frequency_hz[i]);
    if (part != Part::real && part != Part::imag) continue;
    const double nan = std::nan("");
    auto& z =
        parts.try_emplace({data.station[i], data.frequency_hz[i], element}, nan, nan).first->second;
    (part == Part::real ? z.first : z.second) = data.value[i];
  }
  for (const auto& [key, z] : parts) {
    const double f = std::get<1>(key);
    add((z.first * z.first + z.second * z.second) / (2 * std::numbers::pi * f * mu0), f);
  }
  if (data.size() == 0) throw Error("[section_scales] there are no data");
  const auto [low, high] = std::minmax_element(data.frequency_hz.begin(), data.frequency_hz.end());
  if (rho.empty()) {
    add(otherwise_ohm_m, *low);
    add(otherwise_ohm_m, *high);
  }
  std::sort(rho.begin(), rho.end());
  std::sort(depth.begin(), depth.end());
  const std::size_t n = rho.size(), cut = n / 50;
  return {.ohm_m = rho[n / 2],
          .shallowest_m = depth[cut],
          .deepest_m = depth[n - 1 - cut],
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
};

Places places_of(const SectionStations& s, const SectionScales& scales,
                 const SectionMeshOptions& o) {
  Places p{.y = s.y};
  std::sort(p.y.begin(), p.y.end());
  const std::size_t n = p.y.size();
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
  }
  return p;
}

/// Width of cells at y: that at stations, growing away from them.
double width_at(const Places& p, double y, double part, double rate) {
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < p.y.size(); ++k)
    out = std::min(out,
                   part * p.width[k] + rate * std::max(0.0, std::abs(y - p.y[k]) - p.gap[k] / 2));
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
  return graded_axis(through, [&](double y) { return width_at(p, y, 1, 0.3); });
}

/// The flat section: its axes, and what is in it.
struct Flat {
  std::vector<double> y, depth;                   ///< edges of all columns and rows of the model
  Index first_column = 0, columns = 0, rows = 0;  ///< of those that are no padding
  double sea = 0, air = 0;                        ///< heights
};

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

}  // namespace

SectionMesh section_mesh(const SectionStations& stations, const SectionScales& scales,
                         const SectionMeshOptions& o) {
  const std::size_t n = stations.y.size();
  if (n == 0 || stations.z.size() != n || (!stations.tilt.empty() && stations.tilt.size() != n))
    fail(fmt::format("there are {} y, {} z and {} tilts of stations", n, stations.z.size(),
                     stations.tilt.size()));
  for (std::size_t k = 0; k < n; ++k)
    if (!std::isfinite(stations.y[k]) || !std::isfinite(stations.z[k]))
      fail(fmt::format("station {} has no place", k));
  require_length(scales.shallowest_m, "scales.shallowest_m");
  require_length(scales.deepest_m, "scales.deepest_m");
  const double first_cell = o.first_cell_m.value_or(scales.shallowest_m / 4),
               depth = o.depth_m.value_or(1.5 * scales.deepest_m),
               padding = o.padding_m.value_or(4.2 * scales.deepest_m),
               first_solver =
                   o.first_solver_m.value_or(scales.shallowest_m / (o.order == 1 ? 5 : 2));
  require_length(first_cell, "first_cell_m");
  require_length(depth, "depth_m");
  require_length(padding, "padding_m");
  require_length(first_solver, "first_solver_m");
  if (o.cell_width_m) require_length(*o.cell_width_m, "cell_width_m");
  if (!(o.growth >= 1) || !(o.padding_growth > 1) || !(o.air_growth > 1) || !(o.solver_rate > 0) ||
      o.columns_of_cell < 1)
    fail("growths must be above 1, solver_rate above 0, columns_of_cell 1 or more");

  const Places places = places_of(stations, scales, o);
  Flat flat;
  const std::vector<double> inner = inner_columns(places, o);
  const auto pad = [&](double width) {
    return growing(0, width * o.padding_growth, o.padding_growth, padding);
  };
  const std::vector<double> left = pad(inner[1] - inner[0]),
                            right = pad(inner.back() - inner[inner.size() - 2]);
  for (std::size_t k = left.size(); k-- > 1;) flat.y.push_back(inner.front() - left[k]);
  flat.first_column = static_cast<Index>(flat.y.size());
  flat.columns = static_cast<Index>(inner.size()) - 1;
  flat.y.insert(flat.y.end(), inner.begin(), inner.end());
  for (std::size_t k = 1; k < right.size(); ++k) flat.y.push_back(inner.back() + right[k]);
  flat.depth = growing(0, first_cell, o.growth, depth);
  flat.rows = static_cast<Index>(flat.depth.size()) - 1;
  if (const double below = padding - flat.depth.back(); below > 0) {
    const double last = flat.depth.back() - flat.depth[flat.depth.size() - 2];
    for (const double d :
         growing(flat.depth.back(), last * o.padding_growth, o.padding_growth, below))
      if (d > flat.depth.back()) flat.depth.push_back(d);
  }

  // The ground, and the sea above it.
  Ground2d through;
  if (o.sea) {
    through = o.sea->floor;
  } else if (o.ground) {
    through = *o.ground;
  } else {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return stations.y[a] < stations.y[b]; });
    for (const std::size_t k : order) {
      through.y.push_back(stations.y[k]);
      through.z.push_back(stations.z[k]);
    }
  }
  const auto ground = o.sea      ? line_of(through, "the sea floor")
                      : o.ground ? line_of(through, "the ground")
                                 : smooth_through(through.y, through.z);
  const auto [highest, lowest] = range_of(ground, flat.y, through.y);
  const double surface = o.sea ? o.sea->surface_m : highest;
  if (o.sea) {
    if (!(o.sea->ohm_m > 0)) fail("the sea needs a resistivity above 0");
    if (!(highest > surface))
      fail(fmt::format("the sea floor comes up to z = {:.6g} m, above the surface at {:.6g} m",
                       highest, surface));
    flat.sea = (highest + lowest) / 2 - surface;
  }
  if (o.sea || o.ground)
    for (std::size_t k = 0; k < n; ++k) {
      const double off = stations.z[k] - ground(stations.y[k]),
                   width = width_at(places, stations.y[k], 1, 0.3);
      if (std::abs(off) > 0.1 * width + 1)
        fail(fmt::format("station {} at y = {:.6g} m {} by {:.4g} m", k, stations.y[k],
                         off < 0 ? "hangs above the ground" : "lies below the ground",
                         std::abs(off)));
    }

  SectionMesh out;
  const bool all = o.free_padding;
  out.columns = all ? static_cast<Index>(flat.y.size()) - 1 : flat.columns;
  out.rows = all ? static_cast<Index>(flat.depth.size()) - 1 : flat.rows;
  out.y = all ? flat.y : inner;
  out.depth.assign(flat.depth.begin(), flat.depth.begin() + out.rows + 1);
  const auto index_in = [](const std::vector<double>& edges, double at) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), at) - edges.begin();
    return std::clamp<Index>(above - 1, 0, static_cast<Index>(edges.size()) - 2);
  };
  const MediumAt medium = [&](double y, double z) -> Medium2d {
    if (z < 0) return air();
    if (z < flat.sea) return {.ohm_m = o.sea->ohm_m};
    return {.parameter = index_in(out.y, y) * out.rows + index_in(out.depth, z - flat.sea)};
  };
  // Rows from the surface down, of the model and of the solver.
  const auto below_ground = [&](std::vector<double> d) {
    for (double& x : d) x += flat.sea;
    if (o.sea) d.insert(d.begin(), 0.0);
    return d;
  };
  const std::vector<double> solver_y = graded_axis(flat.y, [&](double y) {
    return width_at(places, y, 1.0 / o.columns_of_cell, o.padding_growth - 1);
  });
  std::vector<double> solver_z = graded_axis(below_ground(flat.depth), [&](double z) {
    const double off = std::abs(z - flat.sea), size = first_solver + o.solver_rate * off;
    if (z >= flat.sea) return size;
    const double skin = std::sqrt(o.sea->ohm_m / (std::numbers::pi * mu0 * scales.highest_hz));
    return std::min({size, skin / (o.order == 1 ? 5 : 2), first_solver + o.solver_rate * z});
  });
  flat.air = flat.y.back() - flat.y.front();
  const std::vector<double> up = growing(0, first_solver, o.air_growth, flat.air);
  std::vector<double> with_air;
  for (std::size_t k = up.size(); k-- > 1;) with_air.push_back(-up[k]);
  with_air.insert(with_air.end(), solver_z.begin(), solver_z.end());
  if (solver_y.size() * with_air.size() > o.most_nodes)
    fail(
        fmt::format("the solver's mesh would have {} x {} nodes, more than {}: give wider cells, a "
                    "greater first_solver_m, or leave out the highest frequencies",
                    solver_y.size(), with_air.size(), o.most_nodes));

  const double bottom = flat.sea + flat.depth.back(), base = lowest + flat.depth.back();
  std::vector<Level2d> levels;
  if (o.sea) levels.push_back({0, [surface](double) { return surface; }});
  levels.push_back({flat.sea, ground});
  levels.push_back({bottom, [base](double) { return base; }});
  const std::vector<double> of_lines = o.sea ? std::vector{0.0, flat.sea} : std::vector{0.0};
  out.cells = bent(tensor_mesh(flat.y, below_ground(flat.depth), of_lines, medium), levels);
  const double top = with_air.front(), sky = surface - up.back();
  levels.insert(levels.begin(), Level2d{top, [sky](double) { return sky; }});
  out.solver = bent(tensor_mesh(solver_y, with_air, of_lines, medium), levels);
  out.sensors = sensors_on(out.solver, of_lines.size() - 1, stations.y, o.tilt_along_ground);
  if (!o.tilt_along_ground) out.sensors.tilt = stations.tilt;
  for (std::size_t k = 1; k < n; ++k)
    if (index_in(out.y, places.y[k]) == index_in(out.y, places.y[k - 1]))
      out.remarks.push_back(
          fmt::format("stations at y = {:.6g} m and {:.6g} m stand above one column of cells",
                      places.y[k - 1], places.y[k]));
  return out;
}

}  // namespace tessera::inversion
