// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/record.h"

#include <cmath>

namespace tessera::apps::mt1d {
namespace {

using inversion::Iteration;
using inversion::StationResult;
using Complex = std::complex<double>;

/// Calls v(name, value, units, meaning) for every stored value; a single number is handed over as
/// double&, so that one list serves writing and reading of both file kinds.
template <class V>
void visit(StationResult& r, V&& v) {
  auto& s = r.result;
  v("station", r.station, "", "station name");
  v("file", r.file, "", "sounding file");
  v("distance", r.distance_m, "m", "distance along the profile");
  v("latitude", r.latitude_deg, "deg", "latitude");
  v("longitude", r.longitude_deg, "deg", "longitude");
  v("frequency", s.response.frequency_hz, "Hz", "frequency");
  v("impedance", s.response.impedance_ohm, "ohm",
    "observed impedance that was inverted, exp(+i omega t)");
  v("impedance_error", s.response.sigma_ohm, "ohm",
    "standard deviation of real and of imaginary part");
  v("predicted_impedance", s.predicted_ohm, "ohm", "impedance of the model");
  v("thickness", s.thickness_m, "m", "layer thicknesses, without the half-space");
  v("resistivity", s.resistivity_ohm_m, "ohm*m", "layer resistivities");
  v("resistivity_q05", s.q05, "ohm*m", "5 % quantile of the posterior");
  v("resistivity_q25", s.q25, "ohm*m", "25 % quantile of the posterior");
  v("resistivity_q50", s.q50, "ohm*m", "median of the posterior");
  v("resistivity_q75", s.q75, "ohm*m", "75 % quantile of the posterior");
  v("resistivity_q95", s.q95, "ohm*m", "95 % quantile of the posterior");
  v("rms", s.rms, "1", "root mean square of the normalised residuals");
  v("loss_rms", s.loss_rms, "1", "the same with the loss in force");
  v("target_rms", s.target_rms, "1", "wanted RMS");
  v("roughness_weight", s.mu, "1", "weight of the roughness");
  v("roughness", s.roughness, "1", "roughness of ln resistivity over log10 depth");
  v("error_scale", s.error_scale, "1", "factor on the errors for the posterior");
  v("correlation", s.correlation_decades, "1",
    "most probable correlation length in decades of depth");
  v("acceptance", s.acceptance, "1", "accepted part of the chain's proposals");
  v("depth_bostick", s.depth.bostick_m, "m", "Bostick depth at the longest period");
  v("depth_sensitivity", s.depth.sensitivity_m, "m",
    "depth below which 1 % of the sensitivity lies");
  v("dplus/chi2", s.bound.chi2, "1", "least misfit of any layered earth");
  v("dplus/chi2_lower", s.bound.chi2_lower, "1", "its proven lower bound");
  v("dplus/rms", s.bound.rms, "1", "the same as RMS");
  v("dplus/depth_of_first_sheet", s.bound.a_infinity, "m", "a_infinity of the best fitting sheets");
  v("dplus/lambda", s.bound.lambda, "1/s", "relaxation rates");
  v("dplus/weight", s.bound.weight, "m/s", "their weights");
  v("dplus/impedance", s.bound.impedance_ohm, "ohm", "impedance of the best fitting sheets");
  v("bostick/depth", s.bostick.depth_m, "m", "Bostick depths");
  v("bostick/resistivity", s.bostick.resistivity_ohm_m, "ohm*m", "Bostick resistivities");
  v("tensor/frequency", r.tensor_frequency, "Hz", "frequency");
  const auto curve = [&](const std::string& name, inversion::ModeCurve& c, const char* meaning) {
    v(name + "_rho", c.rho_a, "ohm*m", meaning);
    v(name + "_rho_error", c.rho_a_error, "ohm*m", meaning);
    v(name + "_phase", c.phase, "deg", meaning);
    v(name + "_phase_error", c.phase_error, "deg", meaning);
  };
  curve("tensor/xy", r.xy, "observed xy");
  curve("tensor/yx", r.yx, "observed yx, phase turned to the first quadrant");
}

/// The same of what results of former versions do not have.
template <class V>
void visit_new(StationResult& r, V&& v) {
  inversion::PhaseTensorCurve& p = r.phase_tensor;
  v("r_hat", r.result.r_hat, "1", "of each layer, by halves of the chain: 1 where it has mixed");
  v("phase_tensor/period", p.period, "s", "period");
  v("phase_tensor/phi_max", p.phi_max, "1", "greater principal value, the tangent of a phase");
  v("phase_tensor/phi_min", p.phi_min, "1", "smaller principal value");
  v("phase_tensor/azimuth", p.azimuth, "deg", "of the greater axis, clockwise from north");
  v("phase_tensor/skew", p.skew, "deg", "beta; 0 over a 1-D or 2-D earth");
}

/// The rest of the result in arrays: what is no vector or number of its own.
struct Extra {
  std::vector<double> iterations;  ///< [n][8]
  std::vector<double> flags;       ///< reason, exact Hessian, starts agreeing, D+ converged
  std::vector<double> shift;       ///< nothing, factor, or factor and standard deviation
};

Extra extra_of(const StationResult& r) {
  Extra e;
  for (const Iteration& i : r.result.iterations)
    for (double x : {double(i.number), i.mu, i.rms, i.roughness, i.objective, i.step, i.change,
                     double(i.forwards)})
      e.iterations.push_back(x);
  e.flags = {double(static_cast<int>(r.result.reason)), double(r.result.exact_hessian),
             double(r.result.starts_agreeing), double(r.result.bound.converged)};
  if (r.result.shift_ln_impedance) e.shift.push_back(*r.result.shift_ln_impedance);
  if (r.result.shift_ln_impedance && r.result.shift_std) e.shift.push_back(*r.result.shift_std);
  return e;
}

/// What follows from what is kept. False where the numbers are none of ours.
bool apply(const Extra& e, StationResult& r) {
  constexpr double reasons = static_cast<int>(inversion::Reason::not_finite);
  r.xy.name = "xy";
  r.yx.name = "yx";
  for (inversion::ModeCurve* c : {&r.xy, &r.yx}) {
    c->period.clear();
    for (const double f : r.tensor_frequency) c->period.push_back(1 / f);
  }
  if (e.iterations.size() % 8 != 0 || e.flags.size() != 4 || e.shift.size() > 2) return false;
  for (double f : e.flags)
    if (!(f >= 0 && f < 1e6)) return false;
  if (e.flags[0] > reasons) return false;
  for (std::size_t k = 0; k < e.iterations.size(); k += 8) {
    const double* x = &e.iterations[k];
    if (!(x[0] >= 0 && x[0] < 1e9 && x[7] >= 0 && x[7] < 1e9)) return false;
    r.result.iterations.push_back({int(x[0]), x[1], x[2], x[3], x[4], x[5], x[6], int(x[7])});
  }
  r.result.reason = static_cast<inversion::Reason>(static_cast<int>(e.flags[0]));
  r.result.exact_hessian = e.flags[1] != 0;
  r.result.starts_agreeing = static_cast<int>(e.flags[2]);
  r.result.bound.converged = e.flags[3] != 0;
  if (!e.shift.empty()) r.result.shift_ln_impedance = e.shift[0];
  if (e.shift.size() > 1) r.result.shift_std = e.shift[1];
  return true;
}

[[noreturn]] void not_ours(const std::string& file, const std::string& what) {
  data::Diagnostic d;
  d.number = 428;
  d.place.file = file;
  d.message = what + " is missing or not what inversion.mt1d writes";
  throw data::InputError(std::move(d));
}

}  // namespace

void put(data::Checkpoint& c, const std::string& prefix, const StationResult& record) {
  StationResult r = record;
  c.put(prefix + "id", r.id);
  visit(r, [&](const std::string& name, auto& value, const char*, const char*) {
    c.put(prefix + name, value);
  });
  visit_new(r, [&](const std::string& name, auto& value, const char*, const char*) {
    c.put(prefix + name, value);
  });
  const Extra e = extra_of(r);
  c.put(prefix + "iterations", e.iterations);
  c.put(prefix + "flags", e.flags);
  c.put(prefix + "shift", e.shift);
}

StationResult get(const data::Checkpoint& c, const std::string& prefix) {
  StationResult r;
  r.id = c.text(prefix + "id");
  visit(r, [&]<class T>(const std::string& name, T& value, const char*, const char*) {
    if constexpr (std::is_same_v<T, std::string>)
      value = c.text(prefix + name);
    else if constexpr (std::is_same_v<T, double>)
      value = c.scalar<double>(prefix + name);
    else
      value = c.array<typename T::value_type>(prefix + name);
  });
  visit_new(r, [&](const std::string& name, auto& value, const char*, const char*) {
    if (c.has(prefix + name)) value = c.array<double>(prefix + name);
  });
  const Extra e{c.array<double>(prefix + "iterations"), c.array<double>(prefix + "flags"),
                c.array<double>(prefix + "shift")};
  if (!apply(e, r)) throw Error("[checkpoint] " + prefix + " is inconsistent");
  return r;
}

void write(data::H5Writer& file, const std::string& group, const StationResult& record) {
  StationResult r = record;
  visit(r, [&]<class T>(const std::string& name, T& value, const char* units, const char* meaning) {
    const std::string path = group + "/" + name;
    const data::H5Attributes about{units, meaning};
    if constexpr (std::is_same_v<T, std::string>)
      file.write_text(path, value);
    else if constexpr (std::is_same_v<T, double>)
      file.write(path, std::vector<double>{value}, {}, about);
    else
      file.write(path, value, {}, about);
  });
  visit_new(r, [&](const std::string& name, auto& value, const char* units, const char* meaning) {
    file.write(group + "/" + name, value, {}, {units, meaning});
  });
  const Extra e = extra_of(r);
  file.write(
      group + "/iterations", e.iterations, {e.iterations.size() / 8, 8},
      {"1",
       "number, roughness weight, RMS, roughness, objective, step, largest change, forward runs"});
  file.write(group + "/flags", e.flags, {},
             {"1", "reason of the end, exact Hessian, agreeing starts, D+ converged"});
  file.write(group + "/static_shift", e.shift, {},
             {"1", "ln of the impedance factor, its standard deviation"});
}

StationResult read(const std::map<std::string, data::H5Array>& datasets, const std::string& group,
                   const std::string& file) {
  const auto find = [&]<class T>(const std::string& name) -> const std::vector<T>& {
    const auto at = datasets.find(group + "/" + name);
    const auto* v = at == datasets.end() ? nullptr : std::get_if<std::vector<T>>(&at->second.data);
    if (!v) not_ours(file, group + "/" + name);
    return *v;
  };
  StationResult r;
  visit(r, [&]<class T>(const std::string& name, T& value, const char*, const char*) {
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, double>) {
      const auto& v = find.template operator()<T>(name);
      if (v.size() != 1) not_ours(file, group + "/" + name);
      value = v[0];
    } else {
      value = find.template operator()<typename T::value_type>(name);
    }
  });
  const Extra e{find.template operator()<double>("iterations"),
                find.template operator()<double>("flags"),
                find.template operator()<double>("static_shift")};
  std::size_t tensors = 0;
  visit_new(r, [&](const std::string& name, auto& value, const char*, const char*) {
    if (!datasets.contains(group + "/" + name)) return;
    value = find.template operator()<double>(name);
    if (tensors++ && value.size() != r.phase_tensor.period.size()) not_ours(file, group);
  });
  const auto& s = r.result;
  const std::size_t n = s.response.frequency_hz.size(), layers = s.resistivity_ohm_m.size();
  const auto bands = {&s.q05, &s.q25, &s.q50, &s.q75, &s.q95};
  bool fits = apply(e, r) && n > 0 && layers > 0 && s.thickness_m.size() + 1 == layers &&
              s.response.impedance_ohm.size() == n && s.response.sigma_ohm.size() == n &&
              (s.predicted_ohm.empty() || s.predicted_ohm.size() == n) &&
              s.bostick.depth_m.size() == s.bostick.resistivity_ohm_m.size();
  for (const auto* b : bands)
    fits = fits && (b->empty() || b->size() == layers) && b->empty() == s.q50.empty();
  for (const auto* c : {&r.xy, &r.yx})
    for (const auto* column : {&c->rho_a, &c->rho_a_error, &c->phase, &c->phase_error})
      fits = fits && column->size() == r.tensor_frequency.size();
  if (!fits) not_ours(file, group);
  return r;
}

}  // namespace tessera::apps::mt1d
