// SPDX-License-Identifier: Apache-2.0
// How a case's model moves with the lengths that a monitor names.
#include "electromagnetics/waves/case.h"

#include <algorithm>
#include <map>
#include <memory>

namespace tessera::apps::waves {

namespace em = electromagnetics;

em::ShapeDerivatives shape_derivatives_of(const Case& c, const MonitorOptions& monitor,
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
  Case moved = c;
  std::vector<double*> numbers;
  for (const std::string& name : monitor.derivatives)
    for (const Parameter& p : parameters_of(moved.options))
      if (p.name == name) numbers.push_back(p.value);
  std::vector<double> at;
  for (const double* x : numbers) at.push_back(*x);
  // The scene of some numbers is asked for again with each piece of the grid.
  struct Seen {
    em::Scene scene;
    std::shared_ptr<const em::CutCellFractions> open;
  };
  std::map<std::vector<double>, Seen> known;
  const auto model_of = [&](const std::vector<double>& values, const em::Slab& slab) {
    for (std::size_t p = 0; p < values.size(); ++p) *numbers[p] = values[p];
    const auto [at_values, is_new] = known.try_emplace(values);
    if (is_new) {
      moved.scene = make_scene(moved.options, moved.media);
      at_values->second = {moved.scene, make_open(moved)};
    }
    moved.scene = at_values->second.scene, moved.open = at_values->second.open;
    return make_model(moved, slab);
  };
  em::ShapeDerivatives derivatives;
  try {
    derivatives =
        em::shape_derivatives(c.grid, c.faces, model_of, at,
                              std::vector<double>(at.size(), 1e-5 * em::reference_length(c.grid)));
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse(e.what(), "name lengths of lossless dielectrics among such");
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

}  // namespace tessera::apps::waves
