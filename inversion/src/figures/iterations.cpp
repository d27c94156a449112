// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "tessera/inversion/figures.h"

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
      {.x = iteration, .y = {.label = "RMS", .log = hi / lo > 5}, .series = curve("", rms, 2)},
      {.column = 1,
       .x = iteration,
       .y = {.label = "Roughness"},
       .series = curve("roughness", roughness, 1),
       .legend = Legend::none},
      {.column = 2,
       .x = iteration,
       .y = {.label = "Regularization μ", .log = true},
       .series = curve("μ", mu, 3),
       .legend = Legend::none}};
  if (target_rms) f.panels[0].series.push_back(Rule{.label = "target", .at = *target_rms});
  if (rms_bound)
    f.panels[0].series.push_back(
        Rule{.label = "D^{+} bound",
             .at = *rms_bound,
             .stroke = {.colour = line_colour(1), .width = 0.8, .dash = {1.5, 1.5}}});
  return f;
}

}  // namespace tessera::inversion
