// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/outlines.h"

#include "electromagnetics/fdtd/case.h"
#include "tessera/electromagnetics/section.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

constexpr int kSteps = 1024;  ///< across a picture: about half a dot of a PNG

/// What of a medium is more than its name, each said one way.
MaterialOptions constants_of(const FdtdOptions& o, const std::string& name) {
  MaterialOptions m;
  if (name == "pec")
    m.pec = true;
  else if (name != "vacuum")
    m.library = name;
  for (const MaterialOptions& given : o.materials)
    if (given.name == name) m = given;
  if (m.pec) return {.pec = true};
  if (m.index) m.eps = Point{*m.index * *m.index, *m.index * *m.index, *m.index * *m.index};
  m.index.reset();
  if (!m.library && !m.index_file) {
    if (!m.eps) m.eps = Point{1, 1, 1};
    if (m.sigma == Point{}) m.sigma.reset();
  }
  m.name.clear();
  return m;
}

/// There and back on the same way: a sheet or a film that is thinner than a step.
bool is_thin(const em::SectionLine& line, const em::SectionWindow& w) {
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

bool is_flat(const em::Bounds& b) {
  for (std::size_t d = 0; d < 3; ++d)
    if (b.low[d] == b.high[d]) return true;
  return false;
}

}  // namespace

em::SceneOrder bodies_of(const FdtdOptions& o) {
  std::vector<em::Medium> named;  // one for each name, for make_scene
  std::vector<MaterialOptions> different;
  std::vector<int> number;  // of each name
  const auto add = [&](const std::string& name) {
    if (std::any_of(named.begin(), named.end(),
                    [&](const em::Medium& m) { return m.name == name; }))
      return;
    named.emplace_back().name = name;
    const MaterialOptions m = constants_of(o, name);
    const auto at = std::find(different.begin(), different.end(), m);
    number.push_back(static_cast<int>(at - different.begin()));
    if (at == different.end()) different.push_back(m);
  };
  add(o.grid.background);
  for (const StructureOptions& s : o.structures)
    if (s.material) add(*s.material);
  em::Scene scene = make_scene(o, named);
  for (em::Structure& s : scene.structures) s.medium = number[static_cast<std::size_t>(s.medium)];
  std::erase_if(scene.structures, [&](const em::Structure& s) {
    return is_flat(s.shape.bounds()) && !different[static_cast<std::size_t>(s.medium)].pec;
  });
  scene.background = number.front();
  return em::SceneOrder(std::move(scene));
}

void add_outlines(data::Panel& panel, const em::SceneOrder& bodies, int axis, double at,
                  double scale) {
  const auto& map = std::get<data::HeatMap>(panel.series.back());
  const double wide = map.x_edge.back() - map.x_edge.front(),
               tall = map.y_edge.back() - map.y_edge.front();
  // Frames follow the shape of what they show, but not to any length.
  const int up = static_cast<int>(std::lround(kSteps * std::clamp(tall / wide, 0.3, 2.0)));
  const em::SectionWindow window{.axis = axis,
                                 .at = at,
                                 .low = {map.x_edge.front() / scale, map.y_edge.front() / scale},
                                 .high = {map.x_edge.back() / scale, map.y_edge.back() / scale},
                                 .steps = {kSteps, up}};
  data::Line bodies_line{.label = "", .x = {}, .y = {}}, thin_line = bodies_line;
  for (const em::SectionLine& line : em::section_lines(bodies, window)) {
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

}  // namespace tessera::apps::fdtd
