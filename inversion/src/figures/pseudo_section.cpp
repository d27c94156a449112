// SPDX-License-Identifier: Apache-2.0
#include "pseudo_section.h"

#include "support.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

using namespace data;

namespace figures {
namespace {

std::vector<double> all_values(const std::vector<Sounded>& seen) {
  std::vector<double> out;
  for (const Sounded& s : seen) out.insert(out.end(), s.value.begin(), s.value.end());
  return out;
}

}  // namespace

ColourAxis resistivity_colours(const std::vector<Sounded>& seen) {
  ColourAxis out{.axis = {.label = "ρ_{a}", .unit = "Ω m", .log = true},
                 .map = ColourMap::resistivity};
  std::vector<std::vector<double>> of_station;
  for (const Sounded& s : seen) of_station.push_back(s.value);
  const StationRange rho = range_of_stations(of_station);
  if (rho.low < rho.high) out.axis.min = rho.low, out.axis.max = rho.high;
  return out;
}

ColourAxis phase_colours(const std::vector<Sounded>& seen) {
  ColourAxis out{.axis = {.label = "φ", .unit = "°", .min = 0, .max = 90, .step = 15},
                 .map = ColourMap::viridis};
  const auto [lo, hi] = central_range(all_values(seen), false);
  if (lo > hi) return out;
  out.axis.min = std::min(0.0, std::floor(lo / 45) * 45);
  out.axis.max = std::max(90.0, std::ceil(hi / 45) * 45);
  return out;
}

ColourAxis signed_colours(const std::vector<Sounded>& seen, std::string label, double least) {
  const double most = symmetric_limit(all_values(seen), least);
  return {.axis = {.label = std::move(label), .min = -most, .max = most},
          .map = ColourMap::difference};
}

Figure pseudo_section_of(std::string title, std::string subtitle, const Stations& stations,
                         const std::vector<Sounding2d>& quantities) {
  const bool fitted = std::any_of(quantities.begin(), quantities.end(),
                                  [](const Sounding2d& q) { return !q.predicted.empty(); });
  Figure f{.width = 510,
           .height = fitted ? 470.0 : 210.0,
           .title = std::move(title),
           .subtitle = std::move(subtitle)};
  for (std::size_t column = 0; column < quantities.size(); ++column) {
    const Sounding2d& q = quantities[column];
    const auto panel = [&](std::size_t row, const std::string& name,
                           const std::vector<Sounded>& seen, ColourAxis colour) {
      f.panels.push_back(
          {.title = name,
           .row = row,
           .column = column,
           .x = stations.axis,
           .y = {.label = "Period", .unit = "s", .log = true, .reversed = true, .group = "period"},
           .colour = std::move(colour),
           .series = columns(stations, seen),
           .top_marks = row == 0 ? stations.marks : std::vector<TopMark>{},
           .legend = Legend::none,
           .grid = false});
    };
    ColourAxis colour = q.colour;
    colour.axis.group = q.name;
    panel(0, "Observed " + q.name, q.observed, colour);
    if (q.predicted.empty()) continue;
    panel(1, "Predicted " + q.name, q.predicted, colour);
    const double most = symmetric_limit(all_values(q.residual), q.least_residual);
    Axis residual = q.of_residual;
    residual.min = -most;
    residual.max = most;
    panel(2, "Residual, observed − predicted", q.residual,
          {.axis = std::move(residual), .map = ColourMap::difference});
  }
  return f;
}

}  // namespace figures

namespace {

/// A map [station][period] by stations.
std::vector<figures::Sounded> by_station(const ProfileData& p, const std::vector<double>& map) {
  const std::size_t np = p.period.size();
  std::vector<figures::Sounded> out;
  if (map.empty()) return out;
  for (std::size_t s = 0; s < p.station.size(); ++s)
    out.push_back({p.period,
                   {map.begin() + static_cast<std::ptrdiff_t>(s * np),
                    map.begin() + static_cast<std::ptrdiff_t>((s + 1) * np)}});
  return out;
}

/// In standard deviations; without errors in percent (`relative`) or as they are.
std::vector<double> residual(const std::vector<double>& observed,
                             const std::vector<double>& predicted, const std::vector<double>& error,
                             bool relative) {
  std::vector<double> out(predicted.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!error.empty())
      out[i] = (observed[i] - predicted[i]) / error[i];
    else if (relative)
      out[i] = 100 * (observed[i] / predicted[i] - 1);
    else
      out[i] = observed[i] - predicted[i];
    if (!figures::is_number(out[i])) out[i] = NAN;
  }
  return out;
}

}  // namespace

Figure pseudo_section(const ProfileData& p) {
  const std::size_t ns = p.station.size(), np = p.period.size();
  const auto sized = [&](const char* what, const std::vector<double>& map) {
    figures::require_size("pseudo_section", what, map.size(), ns * np);
  };
  figures::require_size("pseudo_section", "distance", p.distance.size(), ns);
  sized("rho_a", p.rho_a);
  sized("phase", p.phase);
  if (!p.predicted_rho_a.empty() || !p.predicted_phase.empty()) {
    sized("predicted_rho_a", p.predicted_rho_a);
    sized("predicted_phase", p.predicted_phase);
  }
  for (const auto* e : {&p.rho_a_error, &p.phase_error})
    if (!e->empty()) sized("an error map", *e);

  const auto quantity = [&](std::string name, const std::vector<double>& observed,
                            const std::vector<double>& predicted, const std::vector<double>& error,
                            bool relative) {
    figures::Sounding2d q{
        .name = std::move(name),
        .colour = {},
        .observed = by_station(p, observed),
        .predicted = by_station(p, predicted),
        .residual = by_station(p, residual(observed, predicted, error, relative))};
    q.colour =
        relative ? figures::resistivity_colours(q.observed) : figures::phase_colours(q.observed);
    if (error.empty()) {
      q.of_residual = {.label = "Residual", .unit = relative ? "%" : "°"};
      q.least_residual = relative ? 10 : 5;
    }
    return q;
  };
  return figures::pseudo_section_of(
      p.title, p.mode, figures::place_stations(p.station, p.distance, p.counted),
      {quantity("apparent resistivity", p.rho_a, p.predicted_rho_a, p.rho_a_error, true),
       quantity("phase", p.phase, p.predicted_phase, p.phase_error, false)});
}

}  // namespace tessera::inversion
