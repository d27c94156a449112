// SPDX-License-Identifier: Apache-2.0
// Figures of what an inversion has found: the numbers of station results put into those of figures.
#include "tessera/inversion/figures.h"
#include "tessera/inversion/section.h"

#include <cmath>
#include <numbers>

namespace tessera::inversion {
namespace {

std::vector<double> tops(const std::vector<double>& thickness) {
  std::vector<double> z{0};
  for (double b : bottoms(thickness)) z.push_back(b);
  return z;
}

std::string station_name(const StationResult& r) { return r.station.empty() ? r.id : r.station; }

/// Of the tensor, for comparison only.
ModeCurve pale(ModeCurve c) {
  c.inverted = false;
  return c;
}

std::vector<std::string> names_of(std::span<const StationResult> results) {
  std::vector<std::string> out;
  for (const StationResult& r : results) out.push_back(station_name(r));
  return out;
}
std::vector<double> distances_of(std::span<const StationResult> results) {
  std::vector<double> out;
  for (const StationResult& r : results) out.push_back(r.distance_m);
  return out;
}

}  // namespace

data::Figure station_figure(const StationResult& r) {
  const auto& s = r.result;
  SoundingFigure f;
  f.station = station_name(r);
  f.observed = {pale(r.xy), pale(r.yx), mode_curve("inverted", s.response)};
  if (!s.predicted_ohm.empty()) {
    PredictedCurve predicted{.period = f.observed.back().period};
    ResidualCurve real{"real", predicted.period, {}}, imag{"imaginary", predicted.period, {}};
    for (std::size_t i = 0; i < s.response.size(); ++i) {
      const double hz = s.response.frequency_hz[i], sigma = s.response.sigma_ohm[i];
      const auto p = s.predicted_ohm[i], miss = s.response.impedance_ohm[i] - p;
      predicted.rho_a.push_back(apparent_resistivity(hz, p));
      predicted.phase.push_back(phase_degrees(p));
      real.value.push_back(miss.real() / sigma);
      imag.value.push_back(miss.imag() / sigma);
    }
    f.predicted = {std::move(predicted)};
    f.residual = {std::move(real), std::move(imag)};
  }
  f.model = LayeredModel{"model", tops(s.thickness_m), s.resistivity_ohm_m};
  f.low50 = s.q25;
  f.high50 = s.q75;
  f.low90 = s.q05;
  f.high90 = s.q95;
  for (std::size_t i = 0; i < s.bostick.depth_m.size(); ++i) {
    f.bostick_depth.push_back(s.bostick.depth_m[i]);
    f.bostick_resistivity.push_back(s.bostick.resistivity_ohm_m[i]);
  }
  f.depth_of_investigation = s.depth.bostick_m;
  f.rms = s.rms;
  f.rms_bound = s.bound.rms;
  f.iterations = static_cast<int>(s.iterations.size());
  if (s.reason != Reason::target_reached && s.reason != Reason::converged)
    f.note = describe(s.reason);
  return sounding_figure(f);
}

data::Figure pseudo_section(std::span<const StationResult> results, bool has_coordinates) {
  PeriodTable t = period_table(results);
  return pseudo_section({.title = "Observed and predicted",
                         .mode = "inverted response",
                         .station = names_of(results),
                         .distance = distances_of(results),
                         .period = std::move(t.period),
                         .rho_a = std::move(t.rho_a),
                         .phase = std::move(t.phase),
                         .predicted_rho_a = std::move(t.predicted_rho_a),
                         .predicted_phase = std::move(t.predicted_phase),
                         .rho_a_error = std::move(t.rho_a_error),
                         .phase_error = std::move(t.phase_error),
                         .counted = !has_coordinates});
}

data::Figure stitched_section(std::span<const StationResult> results, bool has_coordinates) {
  SectionFigure s{.title = "Resistivity below the profile",
                  .station = names_of(results),
                  .distance = distances_of(results),
                  .log_depth = true,  // what a sounding resolves is a share of the depth
                  .counted = !has_coordinates};
  for (const StationResult& r : results) {
    s.model.push_back({station_name(r), tops(r.result.thickness_m), r.result.resistivity_ohm_m});
    s.depth_of_investigation.push_back(r.result.depth.bostick_m);
    s.rms.push_back(r.result.rms);
  }
  return stitched_section(s);
}

}  // namespace tessera::inversion
