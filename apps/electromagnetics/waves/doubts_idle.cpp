// SPDX-License-Identifier: Apache-2.0
// Keys that have no effect beside others. One that has its default counts as not given: the case
// that a run leaves has them all.
#include "electromagnetics/waves/case_parts.h"

#include <fmt/format.h>

namespace tessera::apps::waves {

void doubt_idle_keys(Case& c, const data::Config& config) {
  const auto in_vain = [&](const std::string& key, const char* why, const char* remedy) {
    c.warnings.push_back(
        warning(config, 759, key, fmt::format("{} has no effect {}", key, why), remedy));
  };
  const auto points = [&](const auto& of, const std::string& table) {
    if (!(of.frequency_min && of.frequency_max) &&
        of.frequency_points != MonitorOptions{}.frequency_points)
      in_vain(table + ".frequency_points", "without frequency_min and frequency_max",
              "leave it out, or give a band in place of frequencies");
  };
  if (c.options.run.dt && c.options.run.courant != SteppingOptions{}.courant)
    in_vain("run.courant", "beside run.dt", "leave one of them out");
  points(c.options.scattering, "s_parameters");
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
    const MonitorOptions& o = c.options.monitors[m];
    const std::string table = fmt::format("monitor[{}]", m);
    points(o, table);
    if (!o.phi.empty() && (!o.theta.empty() || !c.grid.resolved(2)) &&
        o.angle_points != MonitorOptions{}.angle_points)
      in_vain(table + ".angle_points", "beside angles that are given", "leave it out");
  }
}

}  // namespace tessera::apps::waves
