// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/section_model.h"

#include "inversion/mt2d/cell_table.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace tessera::apps::mt2d {
namespace {

/// Twice the area of a triangle, with its sign.
double turn(const Place& a, const Place& b, const Place& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}
bool cross(const Place& a, const Place& b, const Place& c, const Place& d) {
  return turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0;
}

void add_levels(const std::vector<Place>& corners, std::vector<SectionModel::Level>& to) {
  for (std::size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
    const Place &a = corners[i], &b = corners[j];
    if (a[1] == b[1]) to.push_back({std::min(a[0], b[0]), std::max(a[0], b[0]), a[1]});
  }
}

double area_of(const std::vector<Place>& corners) {
  double twice = 0;
  for (std::size_t i = 2; i < corners.size(); ++i)
    twice += turn(corners[0], corners[i - 1], corners[i]);
  return std::abs(twice) / 2;
}

/// The line on which cells end upwards: sides that belong to one cell alone, seen from above.
/// Nothing where it jumps, which no ground does; `jump` is then there.
std::optional<inversion::Ground2d> upper_rim(const CellTable& cells, double& jump) {
  std::map<std::pair<Place, Place>, int> sides;
  for (const std::vector<Place>& c : cells.cell)
    for (std::size_t i = 0; i < c.size(); ++i) {
      const Place &a = c[i], &b = c[(i + 1) % c.size()];
      ++sides[a < b ? std::pair(a, b) : std::pair(b, a)];
    }
  std::set<double> at;
  std::vector<std::pair<Place, Place>> free;
  for (const auto& [side, n] : sides) {
    if (n > 1) continue;
    at.insert({side.first[0], side.second[0]});
    if (side.first[0] < side.second[0]) free.push_back(side);
  }
  inversion::Ground2d out;
  for (const double y : at) {
    double from_left = HUGE_VAL, from_right = HUGE_VAL;
    for (const auto& [a, b] : free) {
      if (y < a[0] || y > b[0]) continue;
      const double t = (y - a[0]) / (b[0] - a[0]), z = t == 1 ? b[1] : a[1] + t * (b[1] - a[1]);
      if (y > a[0]) from_left = std::min(from_left, z);
      if (y < b[0]) from_right = std::min(from_right, z);
    }
    const double z = std::min(from_left, from_right);
    if (std::isfinite(from_left) && std::isfinite(from_right) &&
        std::abs(from_left - from_right) > 1e-6 * (cells.bottom - cells.top)) {
      jump = y;
      return std::nullopt;
    }
    // Points of a straight line say nothing.
    const std::size_t n = out.y.size();
    if (n > 1 && std::abs(out.z[n - 2] +
                          (out.z[n - 1] - out.z[n - 2]) * (y - out.y[n - 2]) /
                              (out.y[n - 1] - out.y[n - 2]) -
                          z) < 1e-9 * (cells.bottom - cells.top))
      out.y.pop_back(), out.z.pop_back();
    out.y.push_back(y), out.z.push_back(z);
  }
  return out;
}

/// A place along the section where water ends upwards below its highest place.
std::optional<double> off_level(const CellTable& water) {
  double jump = 0;
  const auto rim = upper_rim(water, jump);
  if (!rim) return jump;
  for (std::size_t k = 0; k < rim->y.size(); ++k)
    if (rim->z[k] - water.top > 1e-6 * (water.bottom - water.top)) return rim->y[k];
  return std::nullopt;
}

SectionModel of_cells(const std::filesystem::path& file, bool on_rim) {
  // Other columns than these may be empty: quantiles, of runs without bands.
  const data::CsvColumns table = data::read_csv_columns(file, {}, {.number = 690});
  const auto refuse = [&](std::string message, std::size_t line = 0) {
    data::Diagnostic d;
    d.number = 690;
    d.place.file = file.string();
    d.place.line = line;
    d.message = std::move(message);
    d.hint = "model.csv of a run of inversion.mt2d";
    return data::InputError(std::move(d));
  };
  const auto find = [&](const std::string& name) -> const std::vector<std::string>* {
    for (const data::CsvColumn& c : table.columns)
      if (c.name == name) return &c.texts;
    return nullptr;
  };
  const auto *rho = find("resistivity_ohm_m"), *rho_y = find("resistivity_y_ohm_m"),
             *rho_z = find("resistivity_z_ohm_m"), *parameter = find("parameter");
  std::vector<const std::vector<std::string>*> y, z;
  for (int k = 0; k < 4; ++k) {
    y.push_back(find(fmt::format("y{}_m", k)));
    z.push_back(find(fmt::format("z{}_m", k)));
  }
  const auto number = [&](const std::vector<std::string>& column, std::size_t row) {
    const std::string& text = column[row];
    if (text.empty()) return double(NAN);
    const auto v = data::csv_number(text);
    if (!v) throw refuse(data::shown(text) + " is no number", table.lines[row]);
    return *v;
  };
  if (!rho || std::any_of(y.begin(), y.begin() + 3, [](auto* c) { return !c; }) ||
      std::any_of(z.begin(), z.begin() + 3, [](auto* c) { return !c; }) || table.rows() == 0)
    throw refuse("the file is no section: y0_m, z0_m, ... and resistivity_ohm_m are its columns");
  if (!rho_y != !rho_z)
    throw refuse("of resistivity_y_ohm_m and resistivity_z_ohm_m there are both or none");
  const auto cells = std::make_shared<CellTable>();
  CellTable water;
  SectionModel out;
  out.as_z = true;
  double water_area = 0, water_conductance = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const double ohm_m = number(*rho, i);
    const Axes along{ohm_m, rho_y ? number(*rho_y, i) : ohm_m, rho_z ? number(*rho_z, i) : ohm_m};
    for (const double r : along)
      if (!(r > 0) || !std::isfinite(r))
        throw refuse("a resistivity is not positive", table.lines[i]);
    std::vector<Place> corners;
    for (std::size_t k = 0; k < 4; ++k) {
      if (!y[k] || !z[k]) continue;
      const Place at{number(*y[k], i), number(*z[k], i)};
      if (!std::isnan(at[0]) && !std::isnan(at[1])) corners.push_back(at);
    }
    if (corners.size() < 3) throw refuse("a cell has fewer than three corners", table.lines[i]);
    if (parameter && number(*parameter, i) == -1) {  // water, of a marine run
      if (!out.water) out.water = {.least = ohm_m, .greatest = ohm_m};
      out.water->least = std::min(out.water->least, ohm_m);
      out.water->greatest = std::max(out.water->greatest, ohm_m);
      const double area = area_of(corners);
      water_area += area, water_conductance += area / ohm_m;
      water.add(std::move(corners));
      continue;
    }
    out.ohm_m.push_back(along);
    add_levels(corners, out.levels);
    cells->add(std::move(corners));
  }
  if (out.ohm_m.empty()) throw refuse("no cell has a parameter: all of the section is water");
  if (out.water) {
    out.water->ohm_m = water_area / water_conductance;
    out.water->surface = water.top;
    if (const auto lower = off_level(water))
      throw refuse(
          fmt::format("cells that are no parameter, its water, end upwards at z = {:.6g} m, and "
                      "lower at y = {:.6g} m: water has one level surface",
                      water.top, *lower));
  }
  double jump = 0;
  out.rim = upper_rim(*cells, jump);
  if (!out.rim && on_rim) {
    data::InputError e = refuse(
        fmt::format("the ground, on which its cells end upwards, jumps at y = {:.6g} m", jump));
    data::Diagnostic d = e.findings().front();
    d.hint = "give the ground: ground.shape = \"file\" and ground.file";
    throw data::InputError(std::move(d));
  }
  for (std::size_t i = 0; i < cells->cell.size(); ++i)
    out.corners.push_back(cells->low[i]), out.corners.push_back(cells->high[i]);
  cells->sort();
  out.left = cells->left, out.right = cells->right;
  out.depths = [cells](double at_y) { return cells->depths_at(at_y); };
  out.region = [cells](double at_y, double at_z, double) { return cells->at(at_y, at_z); };
  return out;
}

}  // namespace

bool lies_in(const std::vector<Place>& polygon, double y, double depth) {
  bool in = false;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Place &a = polygon[i], &b = polygon[j];
    if ((a[1] > depth) != (b[1] > depth) &&
        y < (b[0] - a[0]) * (depth - a[1]) / (b[1] - a[1]) + a[0])
      in = !in;
  }
  return in;
}

void find_crossings(const data::Config& config, const std::vector<Place>& polygon,
                    const std::string& key, std::vector<data::Diagnostic>& wrong) {
  const std::size_t n = polygon.size();
  double area = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Place &a = polygon[i], &b = polygon[(i + 1) % n];
    area += a[0] * b[1] - a[1] * b[0];
    for (std::size_t j = i + 2; j < n; ++j) {
      if (i == 0 && j + 1 == n) continue;
      if (!cross(a, b, polygon[j], polygon[(j + 1) % n])) continue;
      wrong.push_back(config.error(
          688, key, fmt::format("the side from point {} crosses that from point {}", i + 1, j + 1),
          "give the points in their order around the body"));
      return;
    }
  }
  if (area == 0)
    wrong.push_back(config.error(688, key, "the points lie on one line: they bound nothing",
                                 "three corners or more, in their order around the body"));
}

SectionModel section_model(const data::Config& config, const Mt2dOptions& o) {
  if (o.section_file) return of_cells(*o.section_file, o.ground != GroundShape::file);
  std::vector<data::Diagnostic> wrong;
  SectionModel out;
  const auto add = [&](double ohm_m) { out.ohm_m.push_back({ohm_m, ohm_m, ohm_m}); };
  add(o.background);
  for (const LayerOptions& l : o.layers) add(l.resistivity), out.tops.push_back(l.top);
  for (std::size_t k = 0; k < o.bodies.size(); ++k) {
    add(o.bodies[k].resistivity);
    const std::vector<Place>& points = o.bodies[k].points;
    const std::string key = fmt::format("section.body[{}].points", k);
    find_crossings(config, points, key, wrong);
    if (std::all_of(points.begin(), points.end(), [](const Place& p) { return p[1] <= 0; }))
      wrong.push_back(config.error(688, key, "the body lies above the ground",
                                   "depths are positive downwards"));
    out.corners.insert(out.corners.end(), points.begin(), points.end());
    add_levels(points, out.levels);
  }
  if (!wrong.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(wrong));
  out.depths = [layers = o.layers, bodies = o.bodies](double y) {
    std::vector<double> depths;
    for (const LayerOptions& l : layers) depths.push_back(l.top);
    for (const BodyOptions& b : bodies)
      for (std::size_t i = 0, j = b.points.size() - 1; i < b.points.size(); j = i++) {
        const Place &p = b.points[i], &q = b.points[j];
        if ((p[0] > y) != (q[0] > y))
          depths.push_back(p[1] + (y - p[0]) / (q[0] - p[0]) * (q[1] - p[1]));
      }
    std::sort(depths.begin(), depths.end());
    depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
    return depths;
  };
  out.region = [layers = o.layers, bodies = o.bodies](double y, double, double depth) {
    for (std::size_t k = bodies.size(); k-- > 0;)
      if (lies_in(bodies[k].points, y, depth)) return 1 + layers.size() + k;
    std::size_t layer = 0;
    while (layer < layers.size() && layers[layer].top <= depth) ++layer;
    return layer;
  };
  return out;
}

}  // namespace tessera::apps::mt2d
