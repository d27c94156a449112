// SPDX-License-Identifier: Apache-2.0
// How a case's model moves with the lengths that a monitor names.
#include "electromagnetics/waves/case.h"

#include <algorithm>

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
  const auto model_of = [&](const std::vector<double>& values) {
    for (std::size_t p = 0; p < values.size(); ++p) *numbers[p] = values[p];
    moved.scene = make_scene(moved.options, moved.media);
    moved.open = make_open(moved);
    return make_model(moved);
  };
  em::ShapeDerivatives derivatives;
  try {
    derivatives = em::shape_derivatives(
        model_of, at, std::vector<double>(at.size(), 1e-5 * em::reference_length(c.grid)));
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
