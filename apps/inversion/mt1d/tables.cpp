// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/output.h"
#include "tessera/data/file_io.h"
#include "tessera/data/metrics.h"

#include <cmath>
#include <limits>

namespace tessera::apps::mt1d {
namespace {

/// A CSV text: a header, then rows of numbers (empty where not known) and names.
class Table {
 public:
  explicit Table(const std::string& header) : text_(header + "\n") {}
  Table& add(double v) { return field(std::isfinite(v) ? data::number_text(v) : std::string()); }
  Table& add(const std::string& v) { return field(data::csv_field(v)); }
  void end() {
    text_ += "\n";
    first_ = true;
  }
  const std::string& text() const { return text_; }

 private:
  Table& field(const std::string& v) {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += v;
    return *this;
  }
  std::string text_;
  bool first_ = true;
};

std::string model_table(const inversion::SoundingInversion& s) {
  Table t("top_m,bottom_m,resistivity_ohm_m,q05_ohm_m,q25_ohm_m,q50_ohm_m,q75_ohm_m,q95_ohm_m");
  const auto z = inversion::bottoms(s.thickness_m);
  for (std::size_t j = 0; j < s.resistivity_ohm_m.size(); ++j) {
    t.add(j == 0 ? 0.0 : z[j - 1])
        .add(j < z.size() ? z[j] : std::numeric_limits<double>::infinity())
        .add(s.resistivity_ohm_m[j]);
    for (const auto* q : {&s.q05, &s.q25, &s.q50, &s.q75, &s.q95})
      t.add(q->empty() ? NAN : (*q)[j]);
    t.end();
  }
  return t.text();
}

std::string fit_table(const inversion::SoundingInversion& s) {
  Table t(
      "frequency_hz,period_s,observed_re_ohm,observed_im_ohm,error_ohm,predicted_re_ohm,predicted_"
      "im_ohm,residual_re,residual_im,"
      "observed_rho_a_ohm_m,observed_phase_deg,predicted_rho_a_ohm_m,predicted_phase_deg,dplus_re_"
      "ohm,dplus_im_ohm");
  const auto& r = s.response;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double f = r.frequency_hz[i], e = r.sigma_ohm[i];
    const auto z = r.impedance_ohm[i], b = s.bound.impedance_ohm[i];
    const auto p = s.predicted_ohm.empty() ? std::complex<double>(NAN, NAN) : s.predicted_ohm[i];
    for (double v :
         {f, 1 / f, z.real(), z.imag(), e, p.real(), p.imag(), (z - p).real() / e,
          (z - p).imag() / e, inversion::apparent_resistivity(f, z), inversion::phase_degrees(z),
          inversion::apparent_resistivity(f, p), inversion::phase_degrees(p), b.real(), b.imag()})
      t.add(v);
    t.end();
  }
  return t.text();
}

std::string iteration_table(const inversion::SoundingInversion& s) {
  Table t("iteration,roughness_weight,rms,roughness,objective,step,largest_change,forward_runs");
  for (const auto& i : s.iterations) {
    for (double v : {double(i.number), i.mu, i.rms, i.roughness, i.objective, i.step, i.change,
                     double(i.forwards)})
      t.add(v);
    t.end();
  }
  return t.text();
}

}  // namespace

void write_tables(const std::filesystem::path& run, const std::vector<Record>& records) {
  Table t(
      "sounding,station,file,distance_m,latitude_deg,longitude_deg,periods,rms,dplus_rms,target_"
      "rms,reason,iterations,roughness_weight,"
      "roughness,depth_bostick_m,depth_sensitivity_m,error_scale,correlation_decades,exact_hessian,"
      "static_shift_ln,static_shift_std");
  std::filesystem::create_directories(run / "soundings");
  for (const Record& r : records) {
    const auto& s = r.result;
    t.add(r.id)
        .add(r.station)
        .add(std::filesystem::path(r.file).filename().string())
        .add(r.distance_m)
        .add(r.latitude_deg)
        .add(r.longitude_deg);
    t.add(double(s.response.size()))
        .add(s.rms)
        .add(s.bound.rms)
        .add(s.target_rms)
        .add(word(s.reason))
        .add(double(s.iterations.size()));
    for (double v : {s.mu, s.roughness, s.depth.bostick_m, s.depth.sensitivity_m, s.error_scale,
                     s.correlation_decades, double(s.exact_hessian),
                     s.shift_ln_impedance.value_or(NAN), s.shift_std.value_or(NAN)})
      t.add(v);
    t.end();
    data::replace_file(run / "soundings" / (r.id + "_model.csv"), model_table(s));
    data::replace_file(run / "soundings" / (r.id + "_fit.csv"), fit_table(s));
    data::replace_file(run / "soundings" / (r.id + "_iterations.csv"), iteration_table(s));
  }
  data::write_file_atomically(run / "soundings.csv", t.text());
}

}  // namespace tessera::apps::mt1d
