// SPDX-License-Identifier: Apache-2.0
#include "figures/scaled.h"
#include "tessera/electromagnetics/figures.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

/// Half the way between points, and as far beyond the outer ones.
std::vector<double> edges_between(const std::vector<double>& c) {
  std::vector<double> e;
  for (std::size_t i = 0; i <= c.size(); ++i)
    e.push_back(i == 0          ? c[0] - (c[1] - c[0]) / 2
                : i == c.size() ? c[i - 1] + (c[i - 1] - c[i - 2]) / 2
                                : (c[i - 1] + c[i]) / 2);
  return e;
}

}  // namespace

data::Figure field_map_figure(const FieldMap& m, const SceneOrder& bodies) {
  const std::vector<double>&u = m.points[0], &w = m.points[1];
  std::vector<double> both = u;
  both.insert(both.end(), w.begin(), w.end());
  const ReadableUnit length = readable_unit(both, "m");
  const double wide = u.back() - u.front(), high = w.back() - w.front();
  data::ColourAxis colour{.axis = {.label = m.name, .unit = m.unit}};
  double peak = 0;
  for (const double v : m.values) peak = std::max(peak, std::abs(v));
  if (m.signed_values && peak > 0)
    colour.map = data::ColourMap::difference, colour.axis.min = -peak, colour.axis.max = peak;
  data::Figure f{
      .width = 330, .height = std::clamp(70 + 220 * high / wide, 140.0, 520.0), .title = m.title};
  f.panels = {{.x = {.label = m.labels[0], .unit = length.unit, .tight = true},
               .y = {.label = m.labels[1], .unit = length.unit, .tight = true},
               .colour = colour,
               .series = {data::HeatMap{.label = "",
                                        .x_edge = edges_between(detail::scaled(u, length.factor)),
                                        .y_edge = edges_between(detail::scaled(w, length.factor)),
                                        .value = m.values}}}};
  add_outlines(f.panels.front(), bodies, m.axis, m.position, length.factor);
  return f;
}

}  // namespace tessera::electromagnetics
