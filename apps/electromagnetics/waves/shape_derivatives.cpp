// SPDX-License-Identifier: Apache-2.0
// How a case's model moves with the parameters and lengths that a monitor names.
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/sheets.h"
#include "tessera/electromagnetics/pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

constexpr double kShareOfCell = 1e-5;  ///< by which differences move a face

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
  const data::DependentValue* beyond(bool with_losses = false) const {
    for (const data::DependentValue* v : moved_)
      if (v->whole ||
          !(of_structures(v->key) || of_permittivities(v->key) ||
            (with_losses && (of_losses(v->key) || of_sheets(v->key) || of_wires(v->key)))))
        return v;
    return nullptr;
  }
  bool permittivities() const {
    return std::any_of(moved_.begin(), moved_.end(),
                       [](const data::DependentValue* v) { return of_permittivities(v->key); });
  }
  /// The step of differences: kShareOfCell of `length`, or 1e-6 of angles and permittivities, of
  /// what moves fastest.
  double step(double length) const {
    double step = HUGE_VAL;
    for (const data::DependentValue* v : moved_) {
      const bool is_length = v->expression.dimension() == data::dimension::length;
      const double most =
          is_length ? kShareOfCell * length : 1e-6 * std::max(1.0, std::abs(v->value));
      step = std::min(step, most / std::abs(v->slopes[number_]));
    }
    return std::isfinite(step) ? step : 1;
  }

 private:
  std::size_t number_ = SIZE_MAX;
  std::vector<const data::DependentValue*> moved_;
};

/// The numbers that a monitor names, and the case at other values of them.
class NamedNumbers {
 public:
  NamedNumbers(const Case& c, const std::vector<std::string>& names, const data::Config& config)
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

  /// The case with scene and media of these values; grid, time step and sources stay.
  Case moved(const std::vector<double>& values) const {
    Case out = case_;
    data::Config config = config_;
    bool again = false;
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (const data::Parameter* p = case_.options.use.parameters.find(names_[k]);
          p && values[k] != at[k]) {
        config = data::with_parameter(std::move(config), *p, values[k]);
        again = true;
      }
    if (again) {
      out.options = case_.options.read_again(config);
      for (std::size_t s = 0; s < out.options.structures.size(); ++s) {
        out.options.structures[s].densities = case_.options.structures[s].densities;
        out.options.structures[s].drawing = case_.options.structures[s].drawing;
      }
      out.options.run = case_.options.run;
      out.media = make_media(out.options, config, out);
      out.sheet_media = make_sheet_media(out.options, config, out);
      if (!out.options.grid.exact_speed_at) out.stepped = out.media;
    }
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (double* x = number(out.options, names_[k]); x && values[k] != at[k]) *x = values[k];
    if (!again) out.media.resize(case_.scene.n_unmixed(out.media.size()));
    out.scene = make_scene(out.options, out.media);
    out.media = em::with_blends(std::move(out.media), out.scene);
    out.stepped = em::with_blends(std::move(out.stepped), out.scene);
    out.open = make_open(out);
    out.sheets = make_sheet_edges(out);
    place_surface_losses(out);
    return out;
  }

  std::vector<double> at, steps;

 private:
  static double* number(CaseOptions& o, const std::string& name) {
    for (const Parameter& p : parameters_of(o))
      if (p.name == name) return p.value;
    return nullptr;
  }

  const Case& case_;
  const std::vector<std::string>& names_;
  const data::Config& config_;
};

}  // namespace

namespace {

/// Refuses what results are not differentiated in.
void check_named(const Case& c, const std::vector<std::string>& names, bool with_losses,
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
    if (const data::DependentValue* v = reach.beyond(with_losses))
      refuse(fmt::format("parameter '{}' moves '{}', too, in which results are not differentiated",
                         name, v->key),
             "name parameters that move structures and permittivities alone");
    if (reach.permittivities() && c.options.grid.exact_speed_at)
      refuse(fmt::format("parameter '{}' moves a permittivity, which grid.exact_speed_at corrects",
                         name),
             "leave grid.exact_speed_at out");
  }
}

}  // namespace

em::ShapeDerivatives shape_derivatives_of(const Case& c, const MonitorOptions& monitor,
                                          const std::string& key, const data::Config& config) {
  const auto refuse = [&](std::string what, std::string hint) {
    throw data::InputError(data::ExitCode::config_invalid,
                           {config.error(642, key, std::move(what), std::move(hint))});
  };
  check_named(c, monitor.derivatives, false, key, config);
  const NamedNumbers numbers(c, monitor.derivatives, config);
  // The case of some numbers is asked for again with each piece of the grid.
  std::map<std::vector<double>, std::shared_ptr<const Case>> known;
  const auto model_of = [&](const std::vector<double>& values, const em::Slab& slab) {
    auto& moved = known[values];
    if (!moved) moved = std::make_shared<const Case>(numbers.moved(values));
    return make_model(*moved, slab);
  };
  em::ShapeDerivatives derivatives;
  try {
    derivatives = em::shape_derivatives(c.grid, c.faces, model_of, numbers.at, numbers.steps);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse(e.what(), "name what moves lossless dielectrics among such");
  }
  for (const em::Injection& source : make_injections(c))
    for (const auto& list : derivatives.parameters)
      for (const em::ShapeDerivatives::Entry& e : list)
        if (e.to != e.from &&
            std::find(source.edges.begin(), source.edges.end(),
                      derivatives.edges[static_cast<std::size_t>(e.from)]) != source.edges.end())
          refuse("a source lies on a face that moves", "move it two cells away");
  return derivatives;
}

namespace {

/// Refuses what moves at the terminals of a lumped port, or where V is read on its line: what is
/// read there is told by the medium of these edges, which is taken as it is.
void check_apart(const Case& c, const CasePort& port, const std::vector<em::Edge>& moved,
                 const std::function<void(std::string, std::string)>& refuse) {
  std::vector<em::Edge> own = c.elements[port.lumped.element].edges;
  if (port.lumped.line)
    own.insert(own.end(), port.lumped.line->edges.begin(), port.lumped.line->edges.end());
  for (const em::Edge& e : moved)
    if (em::is_electric(e.component) && std::find(own.begin(), own.end(), e) != own.end())
      refuse("what moves has a part in the edges of the port '" + port.monitor.name + "'",
             "move the port two cells away from it");
}

}  // namespace

em::MediumDerivatives medium_derivatives_of(const Case& c, const data::Config& config) {
  const std::string key = "s_parameters.derivatives";
  const std::vector<std::string>& names = c.options.scattering.derivatives;
  const auto refuse = [&](std::string what, std::string hint) {
    throw data::InputError(data::ExitCode::config_invalid,
                           {config.error(642, key, std::move(what), std::move(hint))});
  };
  check_named(c, names, true, key, config);
  const NamedNumbers numbers(c, names, config);
  em::MediumDerivatives out;
  const auto model_of = [&](const std::vector<double>& values) {
    Case moved = numbers.moved(values);
    moved.laminates = em::LaminateShares::exact;
    return make_model(moved);
  };
  try {
    out = em::medium_derivatives(model_of, numbers.at, numbers.steps);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse(e.what(),
           "name what moves conductors, or dielectrics with losses or without along the grid");
  }
  for (const CasePort& port : c.ports) {
    if (port.mode.band.at.empty()) check_apart(c, port, out.edges.edges, refuse);
    for (const em::Edge& e : out.edges.edges) {
      const em::ModePlane& plane = port.mode.plane;
      const int at[3] = {e.i, e.j, e.k};
      if (!port.mode.band.at.empty() && std::abs(at[plane.axis] - plane.line) <= 2)
        refuse("what moves lies within two cells of the port '" + port.monitor.name +
                   "', whose modes are constants",
               "move the port away from it");
    }
  }
  return out;
}

}  // namespace tessera::apps::waves
