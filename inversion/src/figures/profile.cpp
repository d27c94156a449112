// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/median.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::inversion {
namespace {

using namespace data;
using figures::is_number;

void require_size(const char* figure, const char* what, std::size_t came, std::size_t expected) {
  if (came != expected)
    throw Error(std::string("[") + figure + "] " + what + " has " + std::to_string(came) +
                " entries, expected " + std::to_string(expected));
}

/// Distances in the unit of the axis, and the marks above it.
struct Stations {
  Axis axis;
  std::vector<double> x;
  std::vector<double> low, high;  ///< the ends of each station's column of cells
  std::vector<TopMark> marks;
};

/// Columns reach half-way to the neighbours, but over a gap in the profile not further than three
/// times the median half-distance: what no station saw stays empty.
void set_columns(Stations& s) {
  const std::vector<double> edges = figures::cell_edges(s.x, false);
  std::vector<double> half;
  for (std::size_t i = 1; i < s.x.size(); ++i) half.push_back((s.x[i] - s.x[i - 1]) / 2);
  const double most = half.empty() ? HUGE_VAL : 3 * median(half);
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    s.low.push_back(std::max(edges[i], s.x[i] - most));
    s.high.push_back(std::min(edges[i + 1], s.x[i] + most));
  }
}

/// Stations may stand on one spot (a repeated sounding): equal distances are set apart by a
/// thousandth of the profile. `counted`: the axis numbers the stations.
Stations place_stations(const std::vector<std::string>& names, const std::vector<double>& distance,
                        bool counted) {
  Stations s;
  const double length = distance.empty() ? 0 : distance.back() - distance.front();
  const auto [unit, scale] =
      counted ? std::pair<std::string, double>("", 1) : figures::length_unit(std::abs(length));
  s.axis = {.label = counted ? "Station, in order" : "Distance", .unit = unit, .group = "distance"};
  const double least = length > 0 ? 1e-3 * length / scale : 1;
  for (std::size_t i = 0; i < distance.size(); ++i) {
    double x = distance[i] / scale;
    if (i && distance[i] < distance[i - 1])
      throw Error("[profile figure] distances must not fall along the profile; station '" +
                  names[i] + "' does");
    if (i) x = std::max(x, s.x.back() + least);
    s.x.push_back(x);
    s.marks.push_back({x, names[i]});
  }
  set_columns(s);
  return s;
}

/// A map [station][period], one column of cells for each station.
std::vector<Series> columns(const Stations& s, const std::vector<double>& period_edges,
                            const std::vector<double>& map) {
  const std::size_t np = period_edges.empty() ? 0 : period_edges.size() - 1;
  std::vector<Series> out;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const auto begin = map.begin() + static_cast<std::ptrdiff_t>(i * np);
    out.push_back(HeatMap{.label = s.marks[i].label,
                          .x_edge = {s.low[i], s.high[i]},
                          .y_edge = period_edges,
                          .value = {begin, begin + static_cast<std::ptrdiff_t>(np)}});
  }
  return out;
}

/// The central 96 % of the finite values, so that a few wild cells do not take all the colours.
std::pair<double, double> central_range(std::vector<double> values, bool positive) {
  std::erase_if(values, [&](double v) { return !is_number(v) || (positive && v <= 0); });
  if (values.empty()) return {1, 0};
  std::sort(values.begin(), values.end());
  const std::size_t cut = values.size() / 50;
  return {values[cut], values[values.size() - 1 - cut]};
}

/// The central range of positive values of each station, and the stations that it leaves out: at
/// either end at most one in ten of three or more whose least (greatest) value is a decade beyond
/// that of all others. A wild station holds more than a fiftieth of the cells of a short profile,
/// and would take the colours of all others.
struct StationRange {
  double low = 1, high = 0;
  std::vector<bool> beyond;
};
StationRange range_of_stations(const std::vector<std::vector<double>>& values) {
  constexpr double decade = 10;
  StationRange out{.beyond = std::vector<bool>(values.size(), false)};
  std::vector<std::pair<double, std::size_t>> low,
      high;  // 1/greatest, so that both are sought from below
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [lo, hi] = central_range(values[i], true);
    if (lo > hi) continue;
    low.emplace_back(lo, i);
    high.emplace_back(1 / hi, i);
  }
  const std::size_t most = low.size() < 3 ? 0 : std::max<std::size_t>(1, low.size() / 10);
  for (auto* ends : {&low, &high}) {
    std::sort(ends->begin(), ends->end());
    std::size_t n = most;
    while (n > 0 && !((*ends)[n].first > decade * (*ends)[n - 1].first)) --n;
    for (std::size_t k = 0; k < n; ++k) out.beyond[(*ends)[k].second] = true;
  }
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!out.beyond[i]) kept.insert(kept.end(), values[i].begin(), values[i].end());
  std::tie(out.low, out.high) = central_range(std::move(kept), true);
  return out;
}

struct Quantity {
  const char* name;
  const char* unit;
  const std::vector<double>& observed;
  const std::vector<double>& predicted;
  const std::vector<double>& error;
  bool log;
};

std::vector<double> residual(const Quantity& q) {
  std::vector<double> out(q.observed.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!q.error.empty())
      out[i] = (q.observed[i] - q.predicted[i]) / q.error[i];
    else if (q.log)
      out[i] = 100 * (q.observed[i] / q.predicted[i] - 1);
    else
      out[i] = q.observed[i] - q.predicted[i];
    if (!is_number(out[i])) out[i] = NAN;
  }
  return out;
}

/// Upper limit of a symmetric residual axis: at least `least`, one or two digits.
double residual_limit(const std::vector<double>& values, double least) {
  std::vector<double> size;
  for (const double v : values) size.push_back(std::abs(v));
  const double most = std::max(least, central_range(size, false).second);
  const double digit = std::pow(10, std::floor(std::log10(most)));
  return std::ceil(most / digit) * digit;
}

}  // namespace

Figure pseudo_section(const ProfileData& p) {
  const std::size_t ns = p.station.size(), np = p.period.size();
  require_size("pseudo_section", "distance", p.distance.size(), ns);
  require_size("pseudo_section", "rho_a", p.rho_a.size(), ns * np);
  require_size("pseudo_section", "phase", p.phase.size(), ns * np);
  const bool fitted = !p.predicted_rho_a.empty() || !p.predicted_phase.empty();
  if (fitted) {
    require_size("pseudo_section", "predicted_rho_a", p.predicted_rho_a.size(), ns * np);
    require_size("pseudo_section", "predicted_phase", p.predicted_phase.size(), ns * np);
  }
  for (const auto* e : {&p.rho_a_error, &p.phase_error})
    if (!e->empty()) require_size("pseudo_section", "an error map", e->size(), ns * np);

  const Stations stations = place_stations(p.station, p.distance, p.counted);
  const std::vector<double> period_edges = figures::cell_edges(p.period, true);
  std::vector<std::vector<double>> rho_of_station;
  for (std::size_t i = 0; i < ns; ++i)
    rho_of_station.emplace_back(p.rho_a.begin() + static_cast<std::ptrdiff_t>(i * np),
                                p.rho_a.begin() + static_cast<std::ptrdiff_t>((i + 1) * np));
  const StationRange rho = range_of_stations(rho_of_station);

  Figure f{.width = 510, .height = fitted ? 470.0 : 210.0, .title = p.title, .subtitle = p.mode};
  const Quantity quantities[] = {
      {"apparent resistivity", "Ω m", p.rho_a, p.predicted_rho_a, p.rho_a_error, true},
      {"phase", "°", p.phase, p.predicted_phase, p.phase_error, false}};
  for (std::size_t column = 0; column < 2; ++column) {
    const Quantity& q = quantities[column];
    const auto panel = [&](std::size_t row, const std::string& title,
                           const std::vector<double>& map, ColourAxis colour) {
      f.panels.push_back(
          {.title = title,
           .row = row,
           .column = column,
           .x = stations.axis,
           .y = {.label = "Period", .unit = "s", .log = true, .reversed = true, .group = "period"},
           .colour = std::move(colour),
           .series = columns(stations, period_edges, map),
           .top_marks = row == 0 ? stations.marks : std::vector<TopMark>{},
           .legend = Legend::none,
           .grid = false});
    };
    ColourAxis colour{
        .axis = {.label = q.log ? "ρ_{a}" : "φ", .unit = q.unit, .log = q.log, .group = q.name},
        .map = q.log ? ColourMap::resistivity : ColourMap::viridis};
    if (q.log && rho.low < rho.high) colour.axis.min = rho.low, colour.axis.max = rho.high;
    if (!q.log) {
      const auto [lo, hi] = central_range(p.phase, false);
      colour.axis.min = std::min(0.0, std::floor(lo / 45) * 45);
      colour.axis.max = std::max(90.0, std::ceil(hi / 45) * 45);
      if (lo > hi) colour.axis.min = 0, colour.axis.max = 90;
      colour.axis.step = 15;
    }
    panel(0, std::string("Observed ") + q.name, q.observed, colour);
    if (!fitted) continue;
    panel(1, std::string("Predicted ") + q.name, q.predicted, colour);
    const std::vector<double> left = residual(q);
    const bool normalized = !q.error.empty();
    const double most = residual_limit(left, normalized ? 3 : q.log ? 10 : 5);
    panel(2, std::string("Residual, observed − predicted"), left,
          {.axis = {.label = normalized ? "Residual / σ" : "Residual",
                    .unit = normalized ? ""
                            : q.log    ? "%"
                                       : "°",
                    .min = -most,
                    .max = most},
           .map = ColourMap::difference});
  }
  return f;
}

Figure phase_tensor_section(std::span<const StationResult> results, bool has_coordinates) {
  constexpr double semi_axis = 5;  // points, of the greater axis; the smaller in proportion
  std::vector<std::string> names;
  std::vector<double> distance;
  std::vector<PhaseTensorCurve> curves;
  for (const StationResult& r : results) {
    names.push_back(r.station.empty() ? r.id : r.station);
    distance.push_back(r.distance_m);
    curves.push_back(r.phase_tensor);
  }
  const Stations stations = place_stations(names, distance, !has_coordinates);
  Ellipses ellipses{.label = "phase tensor"};
  for (std::size_t k = 0; k < curves.size(); ++k)
    for (std::size_t i = 0; i < curves[k].period.size(); ++i) {
      ellipses.x.push_back(stations.x[k]);
      ellipses.y.push_back(curves[k].period[i]);
      ellipses.major.push_back(semi_axis);
      ellipses.minor.push_back(semi_axis * std::abs(curves[k].phi_min[i] / curves[k].phi_max[i]));
      ellipses.angle.push_back(curves[k].azimuth[i]);
      ellipses.value.push_back(curves[k].skew[i]);
    }
  std::string subtitle = "north is up";
  if (const auto strike = estimate_strike(curves))
    subtitle += "; strike " + figures::digits(strike->strike_deg, 3) + "° or " +
                figures::digits(strike->strike_deg + 90, 3) + "°, concentration " +
                figures::digits(strike->concentration, 2) + ", median skew " +
                figures::digits(strike->median_skew_deg, 2) + "°";
  Figure f{.width = 510,
           .height = 300,
           .title = "Phase tensors along the profile",
           .subtitle = std::move(subtitle)};
  f.panels = {{.x = stations.axis,
               .y = {.label = "Period", .unit = "s", .log = true, .reversed = true},
               .colour = {.axis = {.label = "Skew β", .unit = "°", .min = -6, .max = 6, .step = 3},
                          .map = ColourMap::difference},
               .series = {std::move(ellipses)},
               .top_marks = stations.marks,
               .legend = Legend::none,
               .grid = false}};
  return f;
}

Figure stitched_section(const SectionFigure& s) {
  const std::size_t ns = s.station.size();
  require_size("stitched_section", "distance", s.distance.size(), ns);
  require_size("stitched_section", "model", s.model.size(), ns);
  if (!s.depth_of_investigation.empty())
    require_size("stitched_section", "depth_of_investigation", s.depth_of_investigation.size(), ns);
  if (!s.rms.empty()) require_size("stitched_section", "rms", s.rms.size(), ns);
  for (const LayeredModel& m : s.model)
    require_size("stitched_section", "a model's resistivity", m.resistivity.size(), m.top.size());

  const Stations stations = place_stations(s.station, s.distance, s.counted);
  const double too_deep = 10 * median(s.depth_of_investigation);
  double deepest = 0, shallowest = HUGE_VAL;
  std::vector<std::vector<double>> seen(
      ns);  // resistivities above the depth of investigation set the colours
  std::string beyond;
  for (std::size_t i = 0; i < ns; ++i) {
    const LayeredModel& m = s.model[i];
    const double doi = s.depth_of_investigation.empty() ? NAN : s.depth_of_investigation[i];
    if (doi > too_deep) {
      beyond += (beyond.empty() ? "" : ", ") + s.station[i];
      continue;
    }
    deepest = std::max(deepest, is_number(doi) ? 1.25 * doi : m.top.empty() ? 0 : m.top.back());
    if (m.top.size() > 1) shallowest = std::min(shallowest, m.top[1]);
    for (std::size_t k = 0; k < m.top.size(); ++k)
      if (!(m.top[k] > doi)) seen[i].push_back(m.resistivity[k]);
  }
  if (!(deepest > 0)) deepest = 1000;
  const auto [unit, scale] = figures::length_unit(deepest);
  const StationRange rho = range_of_stations(seen);

  Figure f{.width = 510, .height = s.rms.empty() ? 240.0 : 300.0, .title = s.title};
  if (!beyond.empty()) f.subtitle = "beyond the axes: " + beyond;
  std::string wild;
  for (std::size_t i = 0; i < ns; ++i)
    if (rho.beyond[i]) wild += (wild.empty() ? "" : ", ") + s.station[i];
  if (!wild.empty())
    f.subtitle += (f.subtitle.empty() ? "" : "; ") + ("beyond the colours: " + wild);
  Panel section{.row = s.rms.empty() ? 0u : 1u,
                .x = stations.axis,
                .y = {.label = "Depth",
                      .unit = unit,
                      .log = s.log_depth,
                      .max = deepest / scale,
                      .reversed = true},
                .colour = {.axis = {.label = "Resistivity", .unit = "Ω m", .log = true},
                           .map = ColourMap::resistivity},
                .legend = Legend::none,
                .grid = false};
  section.y.min =
      s.log_depth ? std::max(std::min(shallowest, deepest / 10) / 2, deepest * 1e-4) / scale : 0.0;
  Axis& colour = section.colour.axis;
  if (rho.low < rho.high) colour.min = rho.low, colour.max = rho.high;
  if (s.least_resistivity) colour.min = *s.least_resistivity;
  if (s.greatest_resistivity) colour.max = *s.greatest_resistivity;
  for (std::size_t i = 0; i < ns; ++i) {
    const LayeredModel& m = s.model[i];
    if (m.top.empty()) continue;
    // The layer that holds the depth of investigation is cut there, so that the hatching begins at
    // the right depth.
    const double doi = s.depth_of_investigation.empty() ? NAN : s.depth_of_investigation[i];
    HeatMap column{.label = s.station[i], .x_edge = {stations.low[i], stations.high[i]}};
    for (std::size_t k = 0; k < m.top.size(); ++k) {
      const double bottom = k + 1 < m.top.size() ? m.top[k + 1] : HUGE_VAL;
      column.y_edge.push_back(m.top[k] / scale);
      column.value.push_back(m.resistivity[k]);
      column.masked.push_back(m.top[k] >= doi);
      if (m.top[k] < doi && doi < bottom) {
        column.y_edge.push_back(doi / scale);
        column.value.push_back(m.resistivity[k]);
        column.masked.push_back(true);
      }
    }
    column.y_edge.push_back(HUGE_VAL);
    section.series.push_back(std::move(column));
  }
  if (s.rms.empty()) {
    section.top_marks = stations.marks;
  } else {
    Panel fit{.x = stations.axis,
              .y = {.label = "RMS", .min = 0},
              .top_marks = stations.marks,
              .legend = Legend::none};
    fit.series = {
        Rule{.at = 1},
        Points{.label = "RMS", .x = stations.x, .y = s.rms, .size = 4, .colour = line_colour(2)}};
    f.panels.push_back(std::move(fit));
    f.row_weight = {0.28, 1};
  }
  f.panels.push_back(std::move(section));
  return f;
}

}  // namespace tessera::inversion
