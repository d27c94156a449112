// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/figures.h"

#include <optional>

namespace tessera::electromagnetics {

data::Figure permittivity_figure(const PermittivityMaps& m, const SceneOrder& bodies) {
  // Of nothing but vacuum there is no largest one to scale by.
  const std::optional<double> most = m.most > 1 ? std::optional(m.most) : std::nullopt;
  const auto panel = [&](const std::string& title, const std::vector<double>& map,
                         std::size_t column, bool bar) {
    data::Panel p{
        .title = title,
        .column = column,
        .x = {.label = "x", .unit = "m", .tight = true},
        .y = {.label = "y", .unit = "m", .tight = true, .group = "y"},
        .colour = {.axis = {.label = "relative permittivity", .min = 1, .max = most}, .bar = bar},
        .series = {data::HeatMap{.label = "", .x_edge = m.x, .y_edge = m.y, .value = map}}};
    add_outlines(p, bodies, 2, m.z);
    return p;
  };
  data::Figure f{.width = m.truth.empty() ? 300.0 : 510.0, .height = 240};
  if (!m.truth.empty()) f.panels.push_back(panel("truth", m.truth, 0, false));
  f.panels.push_back(panel("found", m.found, m.truth.empty() ? 0 : 1, true));
  return f;
}

data::Figure descent_figure(const std::vector<double>& iteration,
                            const std::vector<double>& misfit) {
  data::Figure f{.width = 300, .height = 200};
  f.panels = {{.x = {.label = "iteration", .tight = true},
               .y = {.label = "misfit", .log = true},
               .series = {data::Line{.label = "misfit", .x = iteration, .y = misfit}},
               .legend = data::Legend::none}};
  return f;
}

data::Figure traces_figure(const TracesFigure& t) {
  data::Figure f{.width = 510, .height = 110.0 * static_cast<double>(t.traces.size()) + 30};
  std::vector<double> ns;
  for (const double s : t.time_s) ns.push_back(s * 1e9);
  for (std::size_t row = 0; row < t.traces.size(); ++row) {
    const TracesFigure::Trace& one = t.traces[row];
    const data::Line measured{.label = "data", .x = ns, .y = one.measured},
        predicted{.label = "model",
                  .x = ns,
                  .y = one.predicted,
                  .stroke = {.width = 0.9, .dash = {4, 2.5}}};
    f.panels.push_back({.title = one.title,
                        .row = row,
                        .x = {.label = "time", .unit = "ns", .tight = true, .group = "t"},
                        .y = {.label = "field"},
                        .series = {measured, predicted},
                        .legend = row == 0 ? data::Legend::inside : data::Legend::none});
  }
  return f;
}

}  // namespace tessera::electromagnetics
