// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/run_results.h"

#include "electromagnetics/fdtd/antenna.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/fdtd/scattering.h"
#include "electromagnetics/fdtd/unfaded.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tessera::apps::fdtd {

namespace em = electromagnetics;

void results_of_run(RunContext& context, const MonitoredCase& made, std::size_t number,
                    double time_s, Results& results) {
  const Case& c = made.case_of(number);
  const Monitors& monitors = made.of_run(number);
  double sources_end = 0;
  for (const em::Injection& s : make_injections(c, made.excitation_of(number)))
    sources_end = std::max(sources_end, s.end_s);
  auto& told = context.manifest.metrics;
  const std::string run = made.name_of(number);
  const auto named = [&](const std::string& name) { return run.empty() ? name : name + "." + run; };
  const bool cut_short = std::isfinite(sources_end) && time_s < sources_end;
  if (cut_short)
    context.log.warning(
        fmt::format("the run{} ended at {:.4g} s, before its sources did, at {:.4g} s: spectra are "
                    "those of pulses cut short; let it run longer (run.stop)",
                    run.empty() ? "" : " of " + run, time_s, sources_end));
  Results own;
  for (const auto& m : monitors) {
    const bool of_port = dynamic_cast<const PortMonitor*>(m.get()) != nullptr;
    if (!of_port) own.push_back(m->result());
    const auto fading = m->fading();
    if (!fading) continue;
    if (!of_port) own.back().fallen_db = fading->fallen_db;
    const std::string name = named(m->options().name);
    told.emplace_back(name + ".fallen_db", fading->fallen_db);
    if (const std::string text = unfaded(name, *fading, time_s, c.dt_s);
        !text.empty() && !cut_short)
      context.log.warning(text);
  }
  const std::size_t n_own = own.size();
  if (made.empty)  // results of the reference, under their names
    std::move(results.begin(), results.end(), std::back_inserter(own));
  for (std::size_t m = 0; m < n_own; ++m) monitors[m]->relate(own[m], own);
  if (made.empty) {
    std::move(own.begin() + static_cast<std::ptrdiff_t>(n_own), own.end(), results.begin());
    own.resize(n_own);
  }
  if (!c.excitations.empty()) {
    add_antenna_figures(c, port_power(made, number), own);
    per_watt(made, number, own);
  }
  for (MonitorResult& r : own) r.name = named(r.name);
  say_antenna_figures(own, context.log);
  std::move(own.begin(), own.end(), std::back_inserter(results));
}

}  // namespace tessera::apps::fdtd
