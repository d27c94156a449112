// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

using namespace data;

Figure phase_tensor_figure(const std::string& station, const PhaseTensorCurve& p) {
  constexpr double kSemiAxis = 6.5;  // points, of the greater axis; the smaller in proportion
  Ellipses ellipses{.label = "phase tensor",
                    .x = p.period,
                    .y = std::vector<double>(p.period.size(), 0.0),
                    .angle = p.azimuth,
                    .value = p.skew};
  for (std::size_t i = 0; i < p.period.size(); ++i) {
    ellipses.major.push_back(kSemiAxis);
    ellipses.minor.push_back(kSemiAxis * std::abs(p.phi_min[i] / p.phi_max[i]));
  }
  // Strike is known up to 90 degrees; it is shown in -45 … 45 so that scatter about north stays
  // together.
  std::vector<double> strike;
  for (const double a : p.azimuth) strike.push_back(a - 90 * std::round(a / 90));
  double most = 6;
  for (const double b : p.skew)
    if (figures::is_number(b)) most = std::max(most, std::min(std::abs(b), 30.0));
  const Axis period{.label = "Period", .unit = "s", .log = true, .group = "period"};
  Figure f{.width = 400,
           .height = 300,
           .title = "Station " + station,
           .subtitle = "Phase tensor",
           .row_weight = {0.4, 1, 0.8}};
  f.panels = {
      {.x = period,
       .y = {.min = -1, .max = 1, .hidden = true},
       .colour = {.axis = {.label = "Skew β", .unit = "°", .min = -6, .max = 6, .step = 3},
                  .map = ColourMap::difference},
       .series = {std::move(ellipses)},
       .legend = Legend::none,
       .grid = false},
      {.row = 1,
       .x = period,
       .y = {.label = "Strike, ± 90°", .unit = "°", .min = -45, .max = 45, .step = 15},
       .series = {Points{.label = "strike", .x = p.period, .y = strike, .colour = line_colour(1)}},
       .legend = Legend::none},
      {.row = 2,
       .x = period,
       .y = {.label = "Skew β", .unit = "°", .min = -1.1 * most, .max = 1.1 * most},
       .series = {Band{.at = {-HUGE_VAL, HUGE_VAL},
                       .low = {-3},
                       .high = {3},
                       .colour = Colour{0.5, 0.5, 0.5, 1},
                       .opacity = 0.18},
                  Points{.label = "skew",
                         .x = p.period,
                         .y = p.skew,
                         .marker = Marker::diamond,
                         .colour = line_colour(2)}},
       .legend = Legend::none}};
  return f;
}

}  // namespace tessera::inversion
