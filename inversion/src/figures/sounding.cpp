// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::inversion {
namespace {

using namespace data;
using figures::is_number;

const Colour kPredicted{0.835, 0.369, 0.0, 1};  // vermilion, for all that is ours
const Colour kBand{0.902, 0.624, 0.0, 1};       // orange, its uncertainty
const Colour kModes[] = {{0.0, 0.447, 0.698, 1},
                         {0.0, 0.62, 0.451, 1},
                         {0.8, 0.475, 0.655, 1},
                         {0.337, 0.706, 0.914, 1}};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Marker kMarkers[] = {Marker::circle, Marker::square, Marker::diamond, Marker::triangle};

Colour pale(Colour c) { return {0.55 + 0.45 * c.r, 0.55 + 0.45 * c.g, 0.55 + 0.45 * c.b, 1}; }

/// Limits for a logarithmic axis that the values set and wild error bars do not.
void limit_by(Axis& axis, const std::vector<double>& values) {
  const auto [lo, hi] = figures::positive_range(values);
  if (!(lo < hi)) return;
  axis.min = lo / 1.8;
  axis.max = hi * 1.8;
}

void add_curves(const SoundingFigure& s, Panel& rho, Panel& phase) {
  std::vector<double> all_rho, all_phase;
  std::size_t k = 0;
  for (const bool inverted : {false, true})  // what was fitted lies on top
    for (std::size_t i = 0; i < s.observed.size(); ++i) {
      const ModeCurve& m = s.observed[i];
      if (m.inverted != inverted) continue;
      k = i % 4;
      const Colour colour = m.inverted ? kModes[k] : pale(kModes[k]);
      const std::string label = "observed " + m.name;
      rho.series.push_back(Points{.label = label,
                                  .x = m.period,
                                  .y = m.rho_a,
                                  .y_minus = m.rho_a_error,
                                  .y_plus = m.rho_a_error,
                                  .marker = kMarkers[k],
                                  .size = 3.4,
                                  .filled = m.inverted,
                                  .colour = colour});
      phase.series.push_back(Points{.label = label,
                                    .x = m.period,
                                    .y = m.phase,
                                    .y_minus = m.phase_error,
                                    .y_plus = m.phase_error,
                                    .marker = kMarkers[k],
                                    .size = 3.4,
                                    .filled = m.inverted,
                                    .colour = colour});
      all_rho.insert(all_rho.end(), m.rho_a.begin(), m.rho_a.end());
      all_phase.insert(all_phase.end(), m.phase.begin(), m.phase.end());
    }
  for (std::size_t i = 0; i < s.predicted.size(); ++i) {
    const PredictedCurve& p = s.predicted[i];
    const Stroke stroke{.colour = s.predicted.size() > 1 ? kModes[i % 4] : kPredicted,
                        .width = 1.5};
    rho.series.push_back(Line{.label = p.name, .x = p.period, .y = p.rho_a, .stroke = stroke});
    phase.series.push_back(Line{.label = p.name, .x = p.period, .y = p.phase, .stroke = stroke});
    all_rho.insert(all_rho.end(), p.rho_a.begin(), p.rho_a.end());
    all_phase.insert(all_phase.end(), p.phase.begin(), p.phase.end());
  }
  limit_by(rho.y, all_rho);
  // One quadrant where the phases lie in it, the range they need where they do not.
  double lo = 0, hi = 90;
  for (const double v : all_phase)
    if (is_number(v))
      lo = std::min(lo, std::floor(v / 15) * 15), hi = std::max(hi, std::ceil(v / 15) * 15);
  phase.y.min = lo;
  phase.y.max = hi;
  phase.y.step = hi - lo <= 90 ? 15 : 45;
}

void add_residuals(const SoundingFigure& s, Panel& residuals) {
  double most = 3;
  for (const ResidualCurve& c : s.residual)
    for (const double v : c.value)
      if (is_number(v)) most = std::max(most, std::abs(v));
  most = std::min(most, 20.0) * 1.1;
  residuals.y.min = -most;
  residuals.y.max = most;
  residuals.series.push_back(Band{.label = "",
                                  .at = {-kInfinity, kInfinity},
                                  .low = {-1},
                                  .high = {1},
                                  .colour = Colour{0.5, 0.5, 0.5, 1},
                                  .opacity = 0.18});
  residuals.series.push_back(
      Rule{.at = 0, .stroke = {.colour = Colour{0.3, 0.3, 0.3, 1}, .width = 0.6}});
  const Colour colours[] = {kPredicted, kModes[0], kModes[1], kModes[2]};
  for (std::size_t i = 0; i < s.residual.size(); ++i)
    residuals.series.push_back(Points{.label = s.residual[i].name,
                                      .x = s.residual[i].period,
                                      .y = s.residual[i].value,
                                      .marker = kMarkers[i % 4],
                                      .size = 3.2,
                                      .filled = i % 2 == 0,
                                      .colour = colours[i % 4]});
}

/// How deep to draw: a little below what the data see, else below the deepest interface or Bostick
/// point.
double depth_to_draw(const SoundingFigure& s) {
  if (s.greatest_depth) return *s.greatest_depth;
  double deepest = 0;
  if (s.depth_of_investigation && is_number(*s.depth_of_investigation))
    return 2 * *s.depth_of_investigation;
  for (const double z : s.bostick_depth)
    if (is_number(z)) deepest = std::max(deepest, z);
  if (s.model && !s.model->top.empty()) deepest = std::max(deepest, s.model->top.back());
  for (const LayeredModel& m : s.reference)
    if (!m.top.empty()) deepest = std::max(deepest, m.top.back());
  return deepest > 0 ? 1.3 * deepest : 1000;
}

/// A little above the first interface, so that a logarithmic axis shows the top layer.
double shallowest(const SoundingFigure& s, double deepest) {
  double z = deepest / 100;
  const auto look = [&](const LayeredModel& m) {
    if (m.top.size() > 1 && m.top[1] > 0) z = std::min(z, m.top[1] / 1.5);
  };
  if (s.model) look(*s.model);
  for (const LayeredModel& m : s.reference) look(m);
  for (const double b : s.bostick_depth)
    if (is_number(b) && b > 0) z = std::min(z, b / 1.5);
  return std::max(z, deepest * 1e-5);
}

Panel model_panel(const SoundingFigure& s) {
  const double deepest = depth_to_draw(s);
  const auto [unit, scale] = figures::length_unit(deepest);
  Panel p{.title = "Resistivity model",
          .column = 1,
          .row_span = 3,
          .x = {.label = "Resistivity", .unit = "Ω m", .log = true},
          .y = {.label = "Depth",
                .unit = unit,
                .log = s.log_depth,
                .max = deepest / scale,
                .reversed = true}};
  p.y.min = s.log_depth ? shallowest(s, deepest) / scale : 0.0;
  std::vector<double> shown;
  const auto look = [&](const std::vector<double>& values) {
    shown.insert(shown.end(), values.begin(), values.end());
  };
  if (s.model) {
    const std::vector<double> edges = figures::layer_edges(s.model->top, scale);
    const auto band = [&](const char* label, const std::vector<double>& low,
                          const std::vector<double>& high, double opacity) {
      if (low.empty()) return;
      p.series.push_back(Band{.label = label,
                              .at = edges,
                              .low = low,
                              .high = high,
                              .vertical = true,
                              .colour = kBand,
                              .opacity = opacity});
    };
    band("90 % band", s.low90, s.high90, 0.28);
    band("50 % band", s.low50, s.high50, 0.45);
    look(s.low50), look(s.high50), look(s.model->resistivity);
  }
  for (std::size_t i = 0; i < s.reference.size(); ++i) {
    const LayeredModel& m = s.reference[i];
    p.series.push_back(Steps{
        .label = m.name,
        .edge = figures::layer_edges(m.top, scale),
        .value = m.resistivity,
        .vertical = true,
        .stroke = {
            .colour = i ? kModes[2] : Colour{0.1, 0.1, 0.1, 1}, .width = 1.0, .dash = {3.5, 2}}});
    look(m.resistivity);
  }
  if (s.model)
    p.series.push_back(Steps{.label = s.model->name.empty() ? "model" : s.model->name,
                             .edge = figures::layer_edges(s.model->top, scale),
                             .value = s.model->resistivity,
                             .vertical = true,
                             .stroke = {.colour = kPredicted, .width = 1.6}});
  if (!s.bostick_depth.empty()) {
    Points b{.label = "Bostick",
             .x = s.bostick_resistivity,
             .y = s.bostick_depth,
             .marker = Marker::plus,
             .size = 4,
             .colour = Colour{0.35, 0.35, 0.35, 1}};
    for (double& z : b.y) z /= scale;
    p.series.push_back(std::move(b));
    look(s.bostick_resistivity);
  }
  if (s.depth_of_investigation && is_number(*s.depth_of_investigation))
    p.series.push_back(Rule{.label = "depth of investigation",
                            .at = *s.depth_of_investigation / scale,
                            .label_on_line = true});
  limit_by(p.x, shown);
  return p;
}

std::string summary(const SoundingFigure& s) {
  std::vector<std::string> parts;
  if (s.rms) parts.push_back("RMS " + figures::digits(*s.rms, 3));
  if (s.rms_bound) parts.push_back("D^{+} bound " + figures::digits(*s.rms_bound, 3));
  if (s.iterations)
    parts.push_back(std::to_string(*s.iterations) +
                    (*s.iterations == 1 ? " iteration" : " iterations"));
  if (!s.note.empty()) parts.push_back(s.note);
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : "   ·   ") + part;
  return line;
}

}  // namespace

Figure sounding_figure(const SoundingFigure& s) {
  Figure f{.width = 510,
           .height = 360,
           .title = "Station " + s.station,
           .subtitle = summary(s),
           .column_weight = {1.3, 1},
           .row_weight = {1.35, 1, 0.6}};
  const Axis period{.label = "Period", .unit = "s", .log = true, .group = "period"};
  Panel rho{.x = period,
            .y = {.label = "Apparent resistivity", .unit = "Ω m", .log = true},
            .legend = Legend::above};
  Panel phase{.row = 1, .x = period, .y = {.label = "Phase", .unit = "°"}, .legend = Legend::none};
  add_curves(s, rho, phase);
  f.panels = {std::move(rho), std::move(phase)};
  if (s.residual.empty()) {
    f.panels[1].row_span = 2;
  } else {
    Panel residuals{.row = 2, .x = period, .y = {.label = "Residual / σ"}, .legend = Legend::above};
    add_residuals(s, residuals);
    f.panels.push_back(std::move(residuals));
  }
  if (s.model || !s.bostick_depth.empty() || !s.reference.empty()) {
    f.panels.push_back(model_panel(s));
    f.panels.back().title.clear();
    f.panels.back().legend = Legend::above;
  }
  return f;
}

}  // namespace tessera::inversion
