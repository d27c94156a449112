// SPDX-License-Identifier: Apache-2.0
// How the edges of a case's model move with the parameters and lengths that resonances are
// differentiated in.
#include "electromagnetics/waves/named_numbers.h"

#include <fmt/format.h>

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
  if (const std::size_t runs = run_count(c); runs > 1)
    refuse(fmt::format("resonances have derivatives in a case of one run, and this one has {}, one "
                       "for each port that is driven",
                       runs),
           "drive one port (run.excite)");
  check_named(c, monitor.derivatives, MovedBy::bodies, key, config);
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

}  // namespace tessera::apps::waves
