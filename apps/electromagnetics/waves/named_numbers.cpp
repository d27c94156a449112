// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/named_numbers.h"

#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/loads.h"
#include "electromagnetics/waves/sheets.h"
#include "electromagnetics/waves/wires.h"
#include "tessera/electromagnetics/pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

constexpr double kShareOfCell = 1e-5;   ///< by which differences move a face
constexpr double kShareOfValue = 1e-5;  ///< by which they move R, L and C

bool of_structures(const std::string& key) { return key.starts_with("structure["); }
bool of_permittivities(const std::string& key) {
  return key.starts_with("material[") && (key.ends_with("].eps") || key.ends_with("].index"));
}
bool of_losses(const std::string& key) {
  return key.starts_with("material[") && key.find("].sigma") != std::string::npos &&
         key.find("sigma_m") == std::string::npos;
}
/// A resistance, place, thickness or outline of a sheet.
bool of_sheets(const std::string& key) { return key.starts_with("sheet["); }
/// A point or the radius of a thin wire.
bool of_wires(const std::string& key) { return key.starts_with("wire["); }
bool of_expectations(const std::string& key) { return key.starts_with("expect["); }
/// R, L or C of a load or port.
bool of_circuits(const std::string& key) {
  return (key.starts_with("load[") || key.starts_with("port[")) &&
         (key.ends_with("].resistance") || key.ends_with("].inductance") ||
          key.ends_with("].capacitance"));
}
/// What waves refer to.
bool of_references(const std::string& key) {
  return key == "s_parameters.reference" ||
         (key.starts_with("port[") &&
          (key.ends_with("].impedance") || key.ends_with("].reactance")));
}

/// What a parameter moves, as its slopes say.
class Reach {
 public:
  Reach(const CaseOptions& o, const std::string& parameter) {
    const auto& free = o.use.parameters.free();
    for (std::size_t k = 0; k < free.size(); ++k)
      if (o.use.parameters.all()[free[k]].name == parameter) number_ = k;
    for (const data::DependentValue& v : o.use.values)
      if (number_ < v.slopes.size() && v.slopes[number_] != 0 && !of_expectations(v.key))
        moved_.push_back(&v);
  }

  /// The first that results are not differentiated in.
  const data::DependentValue* beyond(MovedBy by) const {
    for (const data::DependentValue* v : moved_) {
      const std::string& key = v->key;
      const bool body = of_structures(key) || of_permittivities(key),
                 medium = of_losses(key) || of_sheets(key) || of_wires(key) || of_circuits(key) ||
                          of_references(key);
      if (v->whole || !(body || (by == MovedBy::media && medium))) return v;
    }
    return nullptr;
  }
  bool any(bool (*of)(const std::string&)) const {
    return std::any_of(moved_.begin(), moved_.end(),
                       [of](const data::DependentValue* v) { return of(v->key); });
  }
  bool circuits_alone() const {
    return std::all_of(moved_.begin(), moved_.end(), [](const data::DependentValue* v) {
      return of_circuits(v->key) || of_references(v->key);
    });
  }
  /// The step of differences: kShareOfCell of `length`, kShareOfValue of R, L and C, or 1e-6 of
  /// angles and permittivities, of what moves fastest.
  double step(double length) const {
    double step = HUGE_VAL;
    for (const data::DependentValue* v : moved_) {
      const double size = std::abs(v->value),
                   most =
                       v->expression.dimension() == data::dimension::length ? kShareOfCell * length
                       : of_circuits(v->key) || of_references(v->key)       ? kShareOfValue * size
                                                                      : 1e-6 * std::max(1.0, size);
      if (most > 0) step = std::min(step, most / std::abs(v->slopes[number_]));
    }
    return std::isfinite(step) ? step : 1;
  }

 private:
  std::size_t number_ = SIZE_MAX;
  std::vector<const data::DependentValue*> moved_;
};

double* number(CaseOptions& o, const std::string& name) {
  for (const Parameter& p : parameters_of(o))
    if (p.name == name) return p.value;
  return nullptr;
}

}  // namespace

void check_named(const Case& c, const std::vector<std::string>& names, MovedBy by,
                 const std::string& key, const data::Config& config) {
  const auto refuse = [&](std::string what, std::string hint) {
    throw data::InputError(data::ExitCode::config_invalid,
                           {config.error(642, key, std::move(what), std::move(hint))});
  };
  if (c.bloch_k != Point{})
    refuse("derivatives between Bloch faces are not supported", "leave derivatives out");
  if (std::any_of(c.media.begin(), c.media.end(),
                  [](const em::Medium& m) { return m.chi2 != 0 || m.chi3 != 0; }))
    refuse("derivatives of nonlinear media are not supported",
           "leave derivatives out, or chi2 and chi3");
  for (const std::string& name : names) {
    const data::Parameter* p = c.options.use.parameters.find(name);
    if (!p) continue;
    if (!p->free)
      refuse(fmt::format("parameter '{}' = '{}' follows from others", name, p->text),
             "name those that it is made of");
    const Reach reach(c.options, name);
    if (const data::DependentValue* v = reach.beyond(by))
      refuse(fmt::format("parameter '{}' moves '{}', too, in which results are not differentiated",
                         name, v->key),
             by == MovedBy::media
                 ? "name parameters that move bodies, sheets, wires, media and circuits alone"
                 : "name parameters that move structures and permittivities alone");
    const bool of_eps = reach.any(of_permittivities);
    if ((of_eps || reach.any(of_losses)) && c.options.grid.exact_speed_at)
      refuse(fmt::format("parameter '{}' moves a {}, which grid.exact_speed_at corrects", name,
                         of_eps ? "permittivity" : "conductivity"),
             "leave grid.exact_speed_at out");
  }
}

CircuitsMoved circuits_moved(const CaseOptions& o, const std::string& name) {
  if (!o.use.parameters.find(name)) return {};
  const Reach reach(o, name);
  return {reach.any(of_circuits), reach.circuits_alone()};
}

NamedNumbers::NamedNumbers(const Case& c, const std::vector<std::string>& names,
                           const data::Config& config)
    : case_(c), names_(names), config_(config) {
  const double length = em::reference_length(c.grid);
  CaseOptions options = c.options;
  for (const std::string& name : names) {
    if (const data::Parameter* p = c.options.use.parameters.find(name)) {
      at.push_back(p->value.value);
      steps.push_back(Reach(c.options, name).step(length));
    } else {
      at.push_back(*number(options, name));
      steps.push_back(kShareOfCell * length);
    }
  }
}

NamedNumbers::Read NamedNumbers::read(const std::vector<double>& values) const {
  Read out{case_.options, config_, false};
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (const data::Parameter* p = case_.options.use.parameters.find(names_[k]);
        p && values[k] != at[k]) {
      out.config = data::with_parameter(std::move(out.config), *p, values[k]);
      out.again = true;
    }
  if (out.again) {
    out.options = case_.options.read_again(out.config);
    for (std::size_t s = 0; s < out.options.structures.size(); ++s) {
      out.options.structures[s].densities = case_.options.structures[s].densities;
      out.options.structures[s].drawing = case_.options.structures[s].drawing;
    }
    out.options.run = case_.options.run;
  }
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (double* x = number(out.options, names_[k]); x && values[k] != at[k]) *x = values[k];
  return out;
}

CaseOptions NamedNumbers::options(const std::vector<double>& values) const {
  return read(values).options;
}

Case NamedNumbers::moved(const std::vector<double>& values) const {
  Case out = case_;
  Read read = this->read(values);
  out.options = std::move(read.options);
  if (read.again) {
    out.media = make_media(out.options, read.config, out);
    out.sheet_media = make_sheet_media(out.options, read.config, out);
    if (!out.options.grid.exact_speed_at) out.stepped = out.media;
    change_circuits(out);
  } else {
    out.media.resize(case_.scene.n_unmixed(out.media.size()));
  }
  refuse_wires_off_lines(case_, out);
  out.scene = make_scene(out.options, out.media);
  out.media = em::with_blends(std::move(out.media), out.scene);
  out.stepped = em::with_blends(std::move(out.stepped), out.scene);
  out.open = make_open(out);
  out.sheets = make_sheet_edges(out);
  place_surface_losses(out);
  return out;
}

std::vector<double> NamedNumbers::stepped(std::size_t name, double by) const {
  std::vector<double> out = at;
  out[name] += by * steps[name];
  return out;
}

}  // namespace tessera::apps::waves
