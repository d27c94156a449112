// SPDX-License-Identifier: Apache-2.0
#include "phase_tensors.h"
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

Figure phase_tensor_section(std::span<const StationResult> results, bool has_coordinates) {
  std::vector<std::string> names;
  std::vector<double> distance;
  std::vector<PhaseTensorCurve> curves;
  for (const StationResult& r : results) {
    names.push_back(r.station.empty() ? r.id : r.station);
    distance.push_back(r.distance_m);
    curves.push_back(r.phase_tensor);
  }
  return figures::phase_tensors_along(figures::place_stations(names, distance, !has_coordinates),
                                      curves);
}

Figure figures::phase_tensors_along(const Stations& stations,
                                    const std::vector<PhaseTensorCurve>& curves) {
  constexpr double semi_axis = 5;  // points, of the greater axis; the smaller in proportion
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
    subtitle += "; strike " + digits(strike->strike_deg, 3) + "° or " +
                digits(strike->strike_deg + 90, 3) + "°, concentration " +
                digits(strike->concentration, 2) + ", median skew " +
                digits(strike->median_skew_deg, 2) + "°";
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

}  // namespace tessera::inversion
