// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/figures.h"
#include "tessera/electromagnetics/section.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::electromagnetics {
namespace {

constexpr int picture_steps = 1024;  ///< across a picture: about half a dot of a PNG

/// There and back on the same way: a sheet or a film that is thinner than a step.
bool is_thin(const SectionLine& line, const SectionWindow& w) {
  if (line.front() != line.back()) return false;
  double area = 0, length = 0;  // in steps
  for (std::size_t i = 1; i < line.size(); ++i) {
    const double u0 = (line[i - 1][0] - w.low[0]) / (w.high[0] - w.low[0]) * w.steps[0],
                 v0 = (line[i - 1][1] - w.low[1]) / (w.high[1] - w.low[1]) * w.steps[1];
    const double u1 = (line[i][0] - w.low[0]) / (w.high[0] - w.low[0]) * w.steps[0],
                 v1 = (line[i][1] - w.low[1]) / (w.high[1] - w.low[1]) * w.steps[1];
    area += (u0 * v1 - u1 * v0) / 2;
    length += std::hypot(u1 - u0, v1 - v0);
  }
  return std::abs(area) < length / 2;  // the width is 2 area/length
}

}  // namespace

void add_outlines(data::Panel& panel, const SceneOrder& bodies, int axis, double at, double scale) {
  const auto& map = std::get<data::HeatMap>(panel.series.back());
  const double wide = map.x_edge.back() - map.x_edge.front(),
               tall = map.y_edge.back() - map.y_edge.front();
  // Frames follow the shape of what they show, but not to any length.
  const int up = static_cast<int>(std::lround(picture_steps * std::clamp(tall / wide, 0.3, 2.0)));
  const SectionWindow window{.axis = axis,
                             .at = at,
                             .low = {map.x_edge.front() / scale, map.y_edge.front() / scale},
                             .high = {map.x_edge.back() / scale, map.y_edge.back() / scale},
                             .steps = {picture_steps, up}};
  data::Line bodies_line{.label = "", .x = {}, .y = {}}, thin_line = bodies_line;
  for (const SectionLine& line : section_lines(bodies, window)) {
    data::Line& to = is_thin(line, window) ? thin_line : bodies_line;
    for (const auto& [u, v] : line) {
      // A rounding does not widen the axes.
      to.x.push_back(std::clamp(u * scale, map.x_edge.front(), map.x_edge.back()));
      to.y.push_back(std::clamp(v * scale, map.y_edge.front(), map.y_edge.back()));
    }
    to.x.push_back(NAN), to.y.push_back(NAN);
  }
  // Where there is no field the first of these maps is dark, the others are light. The rim shows on
  // the opposite.
  const bool dark = panel.colour.map == data::ColourMap::viridis;
  const data::Colour ink = dark ? data::Colour{1, 1, 1, 1} : data::Colour{0.1, 0.1, 0.1, 1},
                     rim = dark ? data::Colour{0.1, 0.1, 0.1, 0.6} : data::Colour{1, 1, 1, 0.6};
  const std::pair<data::Line*, double> widths[] = {{&bodies_line, 0.5}, {&thin_line, 1.0}};
  for (const bool core : {false, true})  // all rims below all lines
    for (const auto& [line, width] : widths) {
      if (line->x.empty()) continue;
      line->stroke = {.colour = core ? ink : rim, .width = core ? width : width + 0.9};
      panel.series.emplace_back(*line);
    }
}

}  // namespace tessera::electromagnetics
