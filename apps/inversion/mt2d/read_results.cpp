// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/results.h"
#include "tessera/data/hdf5.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;

/// Arrays of a results.h5 under /tessera.
class Arrays {
 public:
  explicit Arrays(const fs::path& file)
      : file_(file), all_(data::read_h5(file, {}, data::limits_of_results())) {
    for (const auto& [name, array] : all_)
      by_name_.emplace(name.starts_with('/') ? name.substr(1) : name, &array);
  }
  data::InputError refuse(const std::string& what) const {
    data::Diagnostic d;
    d.number = 428;
    d.place.file = file_.string();
    d.message = "the file has no usable " + what + ": it is no result of inversion.mt2d";
    return data::InputError(std::move(d));
  }
  bool has(const std::string& name) const { return by_name_.contains("tessera/" + name); }
  /// Empty where it is not there; the second argument says of what type it is.
  template <class T>
  std::vector<T> optional(const std::string& name, const T&) const {
    const auto at = by_name_.find("tessera/" + name);
    if (at == by_name_.end()) return {};
    const auto* v = std::get_if<std::vector<T>>(&at->second->data);
    if (!v) throw refuse(name);
    return *v;
  }
  std::vector<double> real(const std::string& name) const {
    if (!has(name)) throw refuse(name);
    return optional(name, 0.0);
  }

 private:
  fs::path file_;
  std::map<std::string, data::H5Array> all_;
  std::map<std::string, const data::H5Array*> by_name_;
};

/// What chains left, for `n` resistivities.
Draws draws_of(const Arrays& in, std::size_t n) {
  Draws d;
  const auto names = in.optional("posterior/names", std::string());
  const std::vector<double> numbers = in.real("posterior/numbers"),
                            chains = in.real("posterior/chains");
  d.values = in.real("posterior/draws");
  const std::size_t each = names.size() * chains.size() / numbers_of_chain;
  if (names.empty() || numbers.size() != names.size() * numbers_of_number || each == 0 ||
      chains.size() % numbers_of_chain != 0 || d.values.empty() || d.values.size() % each != 0)
    throw in.refuse("posterior");
  d.kept = d.values.size() / each;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double* v = &numbers[k * numbers_of_number];
    d.numbers.push_back({names[k], v[0], v[1], v[2], v[3], v[4], v[5], v[6]});
  }
  for (std::size_t k = 0; k < chains.size(); k += numbers_of_chain)
    d.chains.push_back({chains[k], chains[k + 1], chains[k + 2], chains[k + 3], chains[k + 4]});
  for (const auto& [name, values] : {std::pair{"resistivity_q25", &d.q25},
                                     {"resistivity_q50", &d.q50},
                                     {"resistivity_q75", &d.q75},
                                     {"log10_resistivity_std", &d.deviation},
                                     {"r_hat", &d.r_hat},
                                     {"effective_draws", &d.effective}}) {
    *values = in.real(std::string("model/") + name);
    if (values->size() != n) throw in.refuse(name);
  }
  return d;
}

}  // namespace

Result read_results(const fs::path& results_h5) {
  const Arrays in(results_h5);
  Result r;
  r.survey = inversion::read_survey(results_h5);
  r.y = in.real("stations/y"), r.z = in.real("stations/z");
  const std::vector<double> azimuth = in.real("stations/azimuth");
  if (r.y.size() != r.survey.stations.size() || r.z.size() != r.y.size() || azimuth.size() != 1)
    throw in.refuse("stations");
  r.survey.azimuth_deg = azimuth[0];
  r.survey.has_coordinates = true;
  r.shift = in.optional("stations/shift", 0.0);
  r.cells.y = in.real("model/y"), r.cells.z = in.real("model/z");
  r.ohm_m = in.real("model/resistivity");
  const std::vector<std::int64_t> cell = in.optional("model/cell", std::int64_t{}),
                                  parameter = in.optional("model/parameter", std::int64_t{});
  const std::size_t n = r.ohm_m.size();
  if (n == 0 || parameter.size() != n || (cell.size() != 3 * n && cell.size() != 4 * n) ||
      std::any_of(cell.begin(), cell.end(),
                  [&](std::int64_t v) { return v < 0 || v >= std::ssize(r.cells.y); }))
    throw in.refuse("model/cell");
  r.cells.corners = static_cast<int>(cell.size() / n);
  r.cells.cell.assign(cell.begin(), cell.end());
  for (std::size_t c = 0; c < n; ++c)
    r.cells.medium.push_back(parameter[c] >= 0 ? inversion::Medium2d{.parameter = parameter[c]}
                             : std::isnan(r.ohm_m[c])
                                 ? inversion::air()
                                 : inversion::Medium2d{.parameter = -1, .ohm_m = r.ohm_m[c]});
  r.ohm_m_y = in.optional("model/resistivity_y", 0.0),
  r.ohm_m_z = in.optional("model/resistivity_z", 0.0);
  r.low = in.optional("model/resistivity_q05", 0.0),
  r.high = in.optional("model/resistivity_q95", 0.0);
  r.sensitivity = in.optional("model/sensitivity", 0.0);
  for (const auto* v : {&r.ohm_m_y, &r.ohm_m_z, &r.low, &r.high, &r.sensitivity})
    if (!v->empty() && v->size() != n) throw in.refuse("model");
  if (r.ohm_m_y.size() != r.ohm_m_z.size()) throw in.refuse("model");
  if (in.has("posterior/draws")) r.draws = draws_of(in, n);
  const std::vector<double> steps = in.real("steps");
  const std::size_t width = step_columns().size();
  for (std::size_t i = 0; i + width <= steps.size(); i += width)
    r.steps.push_back(step_row({steps.begin() + static_cast<std::ptrdiff_t>(i),
                                steps.begin() + static_cast<std::ptrdiff_t>(i + width)}));
  if (const auto t = in.optional("target_rms", 0.0); t.size() == 1 && !std::isnan(t[0]))
    r.target_rms = t[0];
  if (const auto why = in.optional("reason", std::string()); !why.empty()) r.reason = why[0];
  for (std::size_t k = 0; k < r.survey.stations.size(); ++k) {
    inversion::Sounding& s = r.survey.stations[k].sounding;
    const std::string at = fmt::format("sounding/{}/", k);
    s.frequency_hz = in.optional(at + "frequency", 0.0);
    s.azimuth_deg = in.optional(at + "azimuth", 0.0);
    const auto z = in.optional(at + "impedance", std::complex<double>()),
               t = in.optional(at + "tipper", std::complex<double>());
    if (s.azimuth_deg.size() != s.size() || (!z.empty() && z.size() != 4 * s.size()) ||
        (!t.empty() && t.size() != 2 * s.size()))
      throw in.refuse(at);
    constexpr inversion::Tensor2<double> none{{{NAN, NAN}, {NAN, NAN}}};
    for (std::size_t i = 0; i < z.size(); i += 4) {
      s.impedance.push_back({{{z[i], z[i + 1]}, {z[i + 2], z[i + 3]}}});
      s.impedance_error.push_back(none);
    }
    for (std::size_t i = 0; i < t.size(); i += 2) {
      s.tipper.push_back({t[i], t[i + 1]});
      s.tipper_error.push_back({NAN, NAN});
    }
  }
  return r;
}

}  // namespace tessera::apps::mt2d
