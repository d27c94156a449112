// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/figures.h"

#include <utility>

namespace tessera::molecular {

data::Figure curve_figure(const CurveFigure& c) {
  data::Figure figure{.width = 300, .height = 200, .title = c.title};
  data::Panel panel{.x = {.label = c.x_label, .unit = c.x_unit, .tight = true},
                    .y = {.label = c.y_label, .unit = c.y_unit},
                    .legend = data::Legend::none};
  if (c.curve.error.size() == c.curve.x.size()) {
    data::Band band{.label = "", .at = c.curve.x, .low = c.curve.y, .high = c.curve.y};
    for (std::size_t k = 0; k < c.curve.x.size(); ++k)
      band.low[k] -= c.curve.error[k], band.high[k] += c.curve.error[k];
    panel.series.push_back(std::move(band));
  }
  panel.series.push_back(data::Line{.label = "", .x = c.curve.x, .y = c.curve.y});
  figure.panels.push_back(std::move(panel));
  return figure;
}

data::Figure stage_figure(const StageFigure& s) {
  data::Figure f{.width = 380, .title = s.title};
  for (const StageFigure::Quantity& q : s.quantities) {
    data::Panel p;
    p.row = f.panels.size();
    p.x = {.label = s.axis, .unit = s.axis_unit, .group = "time"};
    p.y = {.label = q.label, .unit = q.unit, .log = q.log};
    p.series = {data::Line{.label = "", .x = s.at, .y = q.values}};
    f.panels.push_back(std::move(p));
  }
  f.height = 60 + 110 * static_cast<double>(f.panels.size());
  return f;
}

}  // namespace tessera::molecular
