// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/output.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"

#include <cmath>
#include <optional>

namespace tessera::apps::mt1d {
namespace {

/// Empty where not known.
std::optional<double> if_known(double v) {
  return std::isfinite(v) ? std::optional(v) : std::nullopt;
}

std::string model_table(const inversion::SoundingInversion& s) {
  data::CsvTable t({"top_m", "bottom_m", "resistivity_ohm_m", "q05_ohm_m", "q25_ohm_m", "q50_ohm_m",
                    "q75_ohm_m", "q95_ohm_m"});
  const auto z = inversion::bottoms(s.thickness_m);
  for (std::size_t j = 0; j < s.resistivity_ohm_m.size(); ++j) {
    t.add(j == 0 ? 0.0 : z[j - 1])
        .add(j < z.size() ? std::optional(z[j]) : std::nullopt)
        .add(s.resistivity_ohm_m[j]);
    for (const auto* q : {&s.q05, &s.q25, &s.q50, &s.q75, &s.q95})
      t.add(q->empty() ? std::nullopt : std::optional((*q)[j]));
    t.end_row();
  }
  return t.text();
}

std::string fit_table(const inversion::SoundingInversion& s) {
  data::CsvTable t({"frequency_hz", "period_s", "observed_re_ohm", "observed_im_ohm", "error_ohm",
                    "predicted_re_ohm", "predicted_im_ohm", "residual_re", "residual_im",
                    "observed_rho_a_ohm_m", "observed_phase_deg", "predicted_rho_a_ohm_m",
                    "predicted_phase_deg", "dplus_re_ohm", "dplus_im_ohm"});
  const auto& r = s.response;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double f = r.frequency_hz[i], e = r.sigma_ohm[i];
    const auto z = r.impedance_ohm[i], b = s.bound.impedance_ohm[i];
    const auto p = s.predicted_ohm.empty() ? std::complex<double>(NAN, NAN) : s.predicted_ohm[i];
    for (double v :
         {f, 1 / f, z.real(), z.imag(), e, p.real(), p.imag(), (z - p).real() / e,
          (z - p).imag() / e, inversion::apparent_resistivity(f, z), inversion::phase_degrees(z),
          inversion::apparent_resistivity(f, p), inversion::phase_degrees(p), b.real(), b.imag()})
      t.add(if_known(v));
    t.end_row();
  }
  return t.text();
}

std::string iteration_table(const inversion::SoundingInversion& s) {
  data::CsvTable t({"iteration", "roughness_weight", "rms", "roughness", "objective", "step",
                    "largest_change", "forward_runs"});
  for (const auto& i : s.iterations) {
    t.add(i.number);
    for (double v : {i.mu, i.rms, i.roughness, i.objective, i.step, i.change}) t.add(if_known(v));
    t.add(i.forwards);
    t.end_row();
  }
  return t.text();
}

}  // namespace

void write_tables(const std::filesystem::path& run,
                  const std::vector<inversion::StationResult>& results, bool has_coordinates) {
  data::CsvTable t({"sounding",
                    "station",
                    "file",
                    "distance_m",
                    "latitude_deg",
                    "longitude_deg",
                    "periods",
                    "rms",
                    "dplus_rms",
                    "target_rms",
                    "reason",
                    "iterations",
                    "roughness_weight",
                    "roughness",
                    "depth_bostick_m",
                    "depth_sensitivity_m",
                    "error_scale",
                    "correlation_decades",
                    "exact_hessian",
                    "static_shift_ln",
                    "static_shift_std"});
  const std::filesystem::path folder = run / "soundings";
  data::make_folder(folder);
  const std::vector<std::string> names = names_of(results);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const inversion::StationResult& r = results[k];
    const auto& s = r.result;
    t.add(r.id)
        .add(r.station)
        .add(std::filesystem::path(r.file).filename().string())
        .add(has_coordinates ? if_known(r.distance_m) : std::nullopt)
        .add(if_known(r.latitude_deg))
        .add(if_known(r.longitude_deg));
    t.add(s.response.size())
        .add(if_known(s.rms))
        .add(if_known(s.bound.rms))
        .add(if_known(s.target_rms))
        .add(word(s.reason))
        .add(s.iterations.size());
    for (double v : {s.mu, s.roughness, s.depth.bostick_m, s.depth.sensitivity_m, s.error_scale,
                     s.correlation_decades})
      t.add(if_known(v));
    t.add(int{s.exact_hessian}).add(s.shift_ln_impedance).add(s.shift_std).end_row();
    data::replace_file(folder / (names[k] + "_model.csv"), model_table(s));
    data::replace_file(folder / (names[k] + "_fit.csv"), fit_table(s));
    data::replace_file(folder / (names[k] + "_iterations.csv"), iteration_table(s));
  }
  data::write_file_atomically(run / "soundings.csv", t.text());
}

}  // namespace tessera::apps::mt1d
