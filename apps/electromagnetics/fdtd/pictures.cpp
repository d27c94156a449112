// SPDX-License-Identifier: Apache-2.0
// A picture of each monitor: spectra and time series as lines, planes as maps.
#include "electromagnetics/fdtd/monitor.h"
#include "electromagnetics/fdtd/outlines.h"
#include "tessera/data/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

/// The unit with a prefix in which the largest value reads well.
struct Prefixed {
  double factor;
  std::string unit;
};
Prefixed prefixed(const std::vector<double>& values, const std::string& unit) {
  double largest = 0;
  for (const double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  static const std::pair<double, const char*> steps[] = {
      {1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},   {1, ""},
      {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}, {1e-15, "f"}};
  if (unit != "Hz" && unit != "s" && unit != "m") return {1, unit};
  for (const auto& [size, letter] : steps)
    if (largest >= size) return {1 / size, letter + unit};
  return {1, unit};
}
std::vector<double> scaled(std::vector<double> v, double by) {
  for (double& x : v) x *= by;
  return v;
}

data::Figure lines(const MonitorResult& r) {
  data::Figure f{.width = 360, .height = 220, .title = r.name};
  const Prefixed x = prefixed(r.axis.values, r.axis.units);
  std::string unit;
  data::Panel panel{.x = {.label = r.axis.name, .unit = x.unit, .tight = true}};
  for (const Quantity& q : r.quantities) {
    if (q.shape.size() != 1 || q.shape[0] != r.axis.values.size()) continue;
    if (!unit.empty() && q.units != unit) continue;  // one unit a panel: that of the first
    unit = q.units;
    std::vector<double> y;
    if (const auto* v = std::get_if<std::vector<double>>(&q.values))
      y = *v;
    else
      for (const auto& z : std::get<std::vector<std::complex<double>>>(q.values))
        y.push_back(std::abs(z));
    panel.series.push_back(
        data::Line{.label = q.name, .x = scaled(r.axis.values, x.factor), .y = y});
  }
  panel.y = {.label = r.kind, .unit = unit == "1" ? "" : unit};
  f.panels = {panel};
  return f;
}

/// Quality over frequency; those that do not decay have none.
data::Figure modes(const MonitorResult& r) {
  const auto& f = std::get<std::vector<double>>(r.find("frequency")->values);
  const auto& q = std::get<std::vector<double>>(r.find("quality")->values);
  const Prefixed unit = prefixed(f, "Hz");
  data::Points points{.label = r.name, .x = {}, .y = {}};
  for (std::size_t m = 0; m < f.size(); ++m)
    if (q[m] > 0) points.x.push_back(f[m] * unit.factor), points.y.push_back(q[m]);
  data::Figure figure{.width = 360, .height = 220, .title = r.name};
  figure.panels = {{.x = {.label = "frequency", .unit = unit.unit},
                    .y = {.label = "Q", .log = true},
                    .series = {points},
                    .legend = data::Legend::none}};
  return figure;
}

/// |field| of a plane at one frequency, or the field at one time; the largest component; over it
/// the outlines of bodies.
data::Figure map(const MonitorResult& r, std::size_t at,
                 const electromagnetics::SceneOrder& bodies) {
  const Quantity* best = nullptr;
  double largest = -1;
  std::vector<double> values;
  const std::size_t n[3] = {r.coordinates[2].values.size(), r.coordinates[1].values.size(),
                            r.coordinates[0].values.size()},
                    points = n[0] * n[1] * n[2];
  for (const Quantity& q : r.quantities) {
    if (q.shape.size() != 4) continue;
    std::vector<double> v;
    for (std::size_t p = 0; p < points; ++p)
      v.push_back(
          std::holds_alternative<std::vector<double>>(q.values)
              ? std::get<std::vector<double>>(q.values)[at * points + p]
              : std::abs(std::get<std::vector<std::complex<double>>>(q.values)[at * points + p]));
    double peak = 0;
    for (const double x : v) peak = std::max(peak, std::abs(x));
    // Magnetic fields are smaller by the impedance of vacuum.
    if (q.name[0] == 'H') peak *= 376.7;
    if (peak > largest) largest = peak, best = &q, values = std::move(v);
  }
  const int across = n[0] == 1 ? 0 : n[1] == 1 ? 1 : 2;
  const Coordinate &u = r.coordinates[across == 0 ? 1 : 2], &w = r.coordinates[across == 2 ? 1 : 0];
  const auto edges = [](const std::vector<double>& c) {
    std::vector<double> e;
    for (std::size_t i = 0; i <= c.size(); ++i)
      e.push_back(i == 0          ? c[0] - (c[1] - c[0]) / 2
                  : i == c.size() ? c[i - 1] + (c[i - 1] - c[i - 2]) / 2
                                  : (c[i - 1] + c[i]) / 2);
    return e;
  };
  std::vector<double> both = u.values;
  both.insert(both.end(), w.values.begin(), w.values.end());
  const Prefixed length = prefixed(both, "m"), axis = prefixed({r.axis.values[at]}, r.axis.units);
  const double wide = u.values.back() - u.values.front(), high = w.values.back() - w.values.front();
  const bool in_time =
      std::holds_alternative<std::vector<double>>(best->values);  // of either sign, about zero
  data::ColourAxis colour{
      .axis = {.label = in_time ? best->name : "|" + best->name + "|", .unit = best->units}};
  double peak = 0;
  for (const double v : values) peak = std::max(peak, std::abs(v));
  if (in_time && peak > 0)
    colour.map = data::ColourMap::difference, colour.axis.min = -peak, colour.axis.max = peak;
  data::Figure f{.width = 330,
                 .height = std::clamp(70 + 220 * high / wide, 140.0, 520.0),
                 .title = fmt::format("{}, {} = {:.4g} {}", r.name, r.axis.name,
                                      r.axis.values[at] * axis.factor, axis.unit)};
  f.panels = {{.x = {.label = u.name, .unit = length.unit, .tight = true},
               .y = {.label = w.name, .unit = length.unit, .tight = true},
               .colour = colour,
               .series = {data::HeatMap{.label = "",
                                        .x_edge = edges(scaled(u.values, length.factor)),
                                        .y_edge = edges(scaled(w.values, length.factor)),
                                        .value = values}}}};
  add_outlines(f.panels.front(), bodies, across,
               r.coordinates[static_cast<std::size_t>(2 - across)].values.front(), length.factor);
  return f;
}

bool is_plane(const MonitorResult& r) {
  if (r.coordinates.size() != 3 || r.coordinates[0].name != "z" || r.axis.values.empty())
    return false;
  return std::count_if(r.coordinates.begin(), r.coordinates.end(),
                       [](const Coordinate& c) { return c.values.size() > 1; }) == 2;
}

/// The pattern over the longer of its two angles, at up to four frequencies.
data::Figure pattern(const MonitorResult& r) {
  const Quantity& q = r.quantities.front();
  const auto& v = std::get<std::vector<double>>(q.values);
  const std::size_t n_theta = r.coordinates[0].values.size(),
                    n_phi = r.coordinates[1].values.size();
  const bool over_theta = n_theta > 1;
  data::Figure f{.width = 360, .height = 220, .title = r.name};
  data::Panel panel{
      .x = {.label = over_theta ? "theta" : "phi", .unit = "°", .step = 45, .tight = true},
      .y = {.label = q.name, .unit = q.units == "1" ? "" : q.units}};
  for (std::size_t k = 0; k < r.axis.values.size();
       k += std::max<std::size_t>(1, r.axis.values.size() / 4)) {
    const Prefixed axis = prefixed({r.axis.values[k]}, "Hz");
    std::vector<double> y;
    for (std::size_t i = 0; i < (over_theta ? n_theta : n_phi); ++i)
      y.push_back(v[(k * n_theta + (over_theta ? i : 0)) * n_phi + (over_theta ? 0 : i)]);
    panel.series.push_back(
        data::Line{.label = fmt::format("{:.4g} {}", r.axis.values[k] * axis.factor, axis.unit),
                   .x = r.coordinates[over_theta ? 0 : 1].values,
                   .y = y});
  }
  f.panels = {panel};
  return f;
}

}  // namespace

std::vector<std::filesystem::path> draw_results(const std::filesystem::path& folder,
                                                const Results& results, const FdtdOptions& o) {
  const electromagnetics::SceneOrder bodies = bodies_of(o);
  std::filesystem::create_directories(folder);
  std::vector<std::filesystem::path> out;
  const auto keep = [&](const data::Figure& f, const std::string& name) {
    for (const char* extension : {".png", ".svg"}) {
      data::save(f, folder / (name + extension));
      out.push_back(folder / (name + extension));
    }
  };
  for (const MonitorResult& r : results) {
    if (r.axis.values.empty()) continue;
    if (r.kind == "resonances") {
      const auto& q = std::get<std::vector<double>>(r.find("quality")->values);
      if (std::any_of(q.begin(), q.end(), [](double x) { return x > 0; })) keep(modes(r), r.name);
    } else if (r.kind == "far_field" || r.kind == "rcs")
      keep(pattern(r), r.name);
    else if (is_plane(r))
      for (std::size_t k = 0; k < r.axis.values.size();
           k += std::max<std::size_t>(1, r.axis.values.size() / 4))
        keep(map(r, k, bodies), fmt::format("{}_{:04}", r.name, k));
    else if (std::any_of(r.quantities.begin(), r.quantities.end(),
                         [&](const Quantity& q) { return q.shape.size() == 1; }) &&
             r.axis.values.size() > 1)
      keep(lines(r), r.name);
  }
  return out;
}

}  // namespace tessera::apps::fdtd
