// SPDX-License-Identifier: Apache-2.0
#include "stations.h"
#include "support.h"
#include "tessera/data/median.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

using namespace data;
using figures::is_number;
using figures::place_stations;
using figures::range_of_stations;
using figures::require_size;
using figures::StationRange;
using figures::Stations;

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
