// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/batch.h"
#include "inversion/mt1d/output.h"
#include "inversion/mt1d/profile.h"
#include "tessera/data/plot.h"
#include "tessera/inversion/figures.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace tessera::apps::mt1d {
namespace {

std::vector<double> tops(const std::vector<double>& thickness) {
  std::vector<double> z{0};
  for (double b : inversion::bottoms(thickness)) z.push_back(b);
  return z;
}

std::vector<double> periods_of(const std::vector<double>& frequency) {
  std::vector<double> t;
  for (double f : frequency) t.push_back(1 / f);
  return t;
}

data::Figure sounding_picture(const Record& r) {
  const auto& s = r.result;
  inversion::SoundingFigure f;
  f.station = r.station.empty() ? r.id : r.station;
  const auto curve = [&](const char* name, const std::vector<double>* v) {
    return inversion::ModeCurve{.name = name,
                                .period = periods_of(r.tensor_frequency),
                                .rho_a = v[0],
                                .rho_a_error = v[1],
                                .phase = v[2],
                                .phase_error = v[3],
                                .inverted = false};
  };
  f.observed = {curve("xy", r.xy), curve("yx", r.yx)};
  inversion::ModeCurve inverted{.name = "inverted", .period = periods_of(s.response.frequency_hz)};
  inversion::PredictedCurve predicted;
  predicted.period = inverted.period;
  for (std::size_t i = 0; i < s.response.size(); ++i) {
    const double hz = s.response.frequency_hz[i], sigma = s.response.sigma_ohm[i];
    const auto z = s.response.impedance_ohm[i];
    inverted.rho_a.push_back(inversion::apparent_resistivity(hz, z));
    inverted.rho_a_error.push_back(2 * inverted.rho_a.back() * sigma / std::abs(z));
    inverted.phase.push_back(inversion::phase_degrees(z));
    inverted.phase_error.push_back(sigma / std::abs(z) * 180 / std::numbers::pi);
    if (s.predicted_ohm.empty()) continue;
    const auto p = s.predicted_ohm[i];
    predicted.rho_a.push_back(inversion::apparent_resistivity(hz, p));
    predicted.phase.push_back(inversion::phase_degrees(p));
    f.residual_period.push_back(1 / hz);
    f.residual_real.push_back((z - p).real() / sigma);
    f.residual_imag.push_back((z - p).imag() / sigma);
  }
  f.observed.push_back(std::move(inverted));
  if (!s.predicted_ohm.empty()) f.predicted = std::move(predicted);
  f.model = inversion::LayeredModel{"model", tops(s.thickness_m), s.resistivity_ohm_m};
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
  if (s.reason != inversion::Reason::target_reached && s.reason != inversion::Reason::converged)
    f.note = describe(s.reason);
  return inversion::sounding_figure(f);
}

}  // namespace

std::vector<std::filesystem::path> draw(const std::filesystem::path& plots,
                                        const std::vector<Record>& records, bool has_coordinates,
                                        bool each, int threads) {
  std::filesystem::create_directories(plots);
  std::vector<std::string> stations;
  std::vector<double> distance, doi, rms;
  std::vector<inversion::LayeredModel> models;
  for (const Record& r : records) {
    stations.push_back(r.station.empty() ? r.id : r.station);
    distance.push_back(r.distance_m);
    doi.push_back(r.result.depth.bostick_m);
    rms.push_back(r.result.rms);
    models.push_back({stations.back(), tops(r.result.thickness_m), r.result.resistivity_ohm_m});
  }
  std::vector<std::filesystem::path> files;
  std::vector<std::function<data::Figure()>> figures;
  std::vector<std::string> names;
  names.push_back("pseudo_section");
  figures.push_back([&] {
    PeriodTable t = period_table(records);
    const inversion::ProfileData p{.title = "Observed and predicted",
                                   .mode = "inverted response",
                                   .station = stations,
                                   .distance = distance,
                                   .period = t.period,
                                   .rho_a = t.rho_a,
                                   .phase = t.phase,
                                   .predicted_rho_a = t.predicted_rho_a,
                                   .predicted_phase = t.predicted_phase,
                                   .rho_a_error = t.rho_a_error,
                                   .phase_error = t.phase_error,
                                   .counted = !has_coordinates};
    return inversion::pseudo_section(p);
  });
  names.push_back("section");
  figures.push_back([&] {
    const inversion::SectionFigure s{
        .title = "Resistivity below the profile",
        .station = stations,
        .distance = distance,
        .model = models,
        .depth_of_investigation = doi,
        .rms = rms,
        .log_depth = true,  // what a sounding resolves is a share of the depth
        .counted = !has_coordinates};
    return inversion::stitched_section(s);
  });
  if (each)
    for (const Record& r : records) {
      names.push_back(r.id);
      figures.push_back([&r] { return sounding_picture(r); });
    }
  for (const std::string& name : names)
    for (const char* kind : {".png", ".svg", ".csv"}) files.push_back(plots / (name + kind));
  for_each_index(figures.size(), threads, [&](std::size_t k) {
    const data::Figure figure = figures[k]();
    data::save(figure, files[3 * k]);
    data::save(figure, files[3 * k + 1]);
    data::save_csv(figure, files[3 * k + 2]);
  });
  return files;
}

}  // namespace tessera::apps::mt1d
