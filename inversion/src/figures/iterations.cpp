// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::inversion {

using namespace data;

Figure iteration_figure(const std::string& title, const std::vector<IterationRow>& rows,
                        std::optional<double> target_rms, std::optional<double> rms_bound) {
  std::vector<double> n, rms, roughness, mu;
  for (const IterationRow& r : rows) {
    n.push_back(r.iteration);
    rms.push_back(r.rms);
    roughness.push_back(r.roughness);
    mu.push_back(r.mu);
  }
  const Axis iteration{.label = "Iteration", .step = 1};
  const auto curve = [&](const char* name, const std::vector<double>& y, std::size_t colour) {
    return std::vector<Series>{
        Line{.label = name, .x = n, .y = y, .stroke = {.colour = line_colour(colour)}},
        Points{.label = name, .x = n, .y = y, .colour = line_colour(colour)}};
  };
  const auto [lo, hi] = figures::positive_range(rms);
  Figure f{.width = 510, .height = 175, .title = title};
  f.panels = {
      {.x = iteration, .y = {.label = "RMS", .log = hi / lo > 5}, .series = curve("", rms, 2)}};
  // Steps of a learnt prior have neither.
  const auto add = [&](Axis axis, const char* name, const std::vector<double>& y,
                       std::size_t colour) {
    if (std::none_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); })) return;
    f.panels.push_back({.column = f.panels.size(),
                        .x = iteration,
                        .y = std::move(axis),
                        .series = curve(name, y, colour),
                        .legend = Legend::none});
  };
  add({.label = "Roughness"}, "roughness", roughness, 1);
  add({.label = "Regularization μ", .log = true}, "μ", mu, 3);
  if (target_rms) f.panels[0].series.push_back(Rule{.label = "target", .at = *target_rms});
  if (rms_bound)
    f.panels[0].series.push_back(
        Rule{.label = "D^{+} bound",
             .at = *rms_bound,
             .stroke = {.colour = line_colour(1), .width = 0.8, .dash = {1.5, 1.5}}});
  return f;
}

Figure l_curve(const std::string& title, const std::vector<IterationRow>& rows,
               std::optional<std::size_t> chosen, std::optional<double> target_rms) {
  std::vector<IterationRow> by_mu = rows;
  std::stable_sort(by_mu.begin(), by_mu.end(),
                   [](const IterationRow& a, const IterationRow& b) { return a.mu < b.mu; });
  Line line{.label = "", .stroke = {.colour = line_colour(1)}};
  for (const IterationRow& r : by_mu) line.x.push_back(r.roughness), line.y.push_back(r.rms);
  Panel p{
      .x = {.label = "Roughness", .log = true},
      .y = {.label = "RMS", .log = true},
      .series = {line,
                 Points{.label = "weights μ", .x = line.x, .y = line.y, .colour = line_colour(1)}}};
  for (std::size_t i = 0; i < by_mu.size(); i += std::max<std::size_t>(1, by_mu.size() / 6))
    p.series.push_back(Text{.x = line.x[i],
                            .y = line.y[i],
                            .text = "  μ = " + figures::digits(by_mu[i].mu, 2),
                            .vertical = Align::middle});
  if (chosen)
    p.series.push_back(Points{.label = "taken",
                              .x = {rows[*chosen].roughness},
                              .y = {rows[*chosen].rms},
                              .marker = Marker::diamond,
                              .size = 6,
                              .colour = line_colour(2)});
  if (target_rms) p.series.push_back(Rule{.label = "target", .at = *target_rms});
  return {.width = 300, .height = 220, .title = title, .panels = {std::move(p)}};
}

}  // namespace tessera::inversion
