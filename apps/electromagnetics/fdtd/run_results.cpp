// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/run_results.h"

#include "electromagnetics/fdtd/antenna.h"
#include "electromagnetics/fdtd/per_watt.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/fdtd/unfaded.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tessera::apps::fdtd {

namespace em = electromagnetics;

namespace {

/// Of a run's results `own` what they are beside each other, and beside those of the reference with
/// the same excitation, which are among `all`.
void relate_results(const MonitoredCase& made, std::size_t number, Results& own, Results& all) {
  const std::size_t n_own = own.size();
  std::vector<std::size_t> lent;
  const std::string suffix = std::string(".") + reference_name,
                    former = made.empty ? "." + made.name_of(made.excitation_of(number)) : "";
  if (made.empty && !made.is_reference(number))
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r].name.ends_with(former)) {
        lent.push_back(r);
        own.push_back(std::move(all[r]));
        std::string& name = own.back().name;
        name = name.substr(0, name.size() - former.size()) + suffix;
      }
  const Monitors& monitors = made.of_run(number);
  for (std::size_t m = 0; m < n_own; ++m) monitors[m]->relate(own[m], own);
  for (std::size_t r = 0; r < lent.size(); ++r) {
    std::string& name = own[n_own + r].name;
    name = name.substr(0, name.size() - suffix.size()) + former;
    all[lent[r]] = std::move(own[n_own + r]);
  }
  own.resize(n_own);
}

}  // namespace

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
    if (const std::string text =
            unfaded(name, *fading, time_s, c.dt_s, c.options.run.stop.decay_db.has_value());
        !text.empty() && !cut_short)
      context.log.warning(text);
  }
  relate_results(made, number, own, results);
  if (!c.excitations.empty() && !made.is_reference(number)) {
    const std::size_t k = made.excitation_of(number);
    add_antenna_figures(c, port_power(made, k), own);
    per_watt(made, k, own);
  }
  for (MonitorResult& r : own) r.name = named(r.name);
  say_antenna_figures(own, context.log);
  std::move(own.begin(), own.end(), std::back_inserter(results));
}

}  // namespace tessera::apps::fdtd
