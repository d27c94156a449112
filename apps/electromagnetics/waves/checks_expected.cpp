// SPDX-License-Identifier: Apache-2.0
// What [[expect]] may ask for: results that the runs of the case will have, within their bands.
#include "electromagnetics/waves/checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::waves {
namespace {

/// A result that there will be, and where it has a spectrum, at which frequencies.
struct Told {
  std::string name;
  std::vector<double> frequencies;
};

/// Those of monitors, one for each run.
void add_monitors(const CaseOptions& o, std::vector<Told>& out) {
  const std::vector<std::string> driven = driven_names(o);
  for (const MonitorOptions& m : o.monitors) {
    const std::vector<double> f =
        m.kind == MonitorKind::resonances ? std::vector<double>() : m.all_frequencies();
    const auto add = [&](const std::string& name) {
      out.push_back({name, f});
      if (is_in_reference(o, m)) out.push_back({name + "." + reference_name, f});
    };
    if (driven.size() < 2) add(m.name);
    for (std::size_t k = 0; driven.size() > 1 && k < driven.size(); ++k)
      add(m.name + "." + driven[k]);
  }
}

void add_ports(const CaseOptions& o, std::vector<Told>& out) {
  const ScatteringOptions& s = o.scattering;
  const std::vector<double> f = s.all_frequencies();
  for (const PortOptions& p : o.ports) out.push_back({p.name, f});
  if (driven_names(o).empty()) return;
  out.push_back({scattering_name, f});
  if (!s.pairs.empty()) out.push_back({"s_mixed", f});
  if (!s.joins.empty()) out.push_back({"s_joined", f});
  for (const CompareOptions& x : s.compare) out.push_back({x.name, f});
  for (const ArrayOptions& x : s.arrays) {
    out.push_back({x.name, f});
    for (const MonitorOptions& m : o.monitors)
      if (m.kind == MonitorKind::far_field)
        out.push_back({m.name + "." + x.name, m.all_frequencies()});
  }
}

}  // namespace

void check_expected(const CaseOptions& o, Checks& checks) {
  if (o.expectations.empty()) return;
  std::vector<Told> all;
  add_monitors(o, all), add_ports(o, all);
  std::vector<std::string> names;
  for (const Told& t : all) names.push_back(t.name);
  for (std::size_t i = 0; i < o.expectations.size(); ++i) {
    const ExpectOptions& x = o.expectations[i];
    checks.known(item("expect", i) + ".monitor", x.monitor, names, "monitor");
    if (!x.frequency) continue;
    const auto of =
        std::find_if(all.begin(), all.end(), [&](const Told& t) { return t.name == x.monitor; });
    if (of == all.end()) continue;
    const std::vector<double>& f = of->frequencies;
    const std::string key = item("expect", i) + ".frequency";
    if (f.empty()) {
      checks.say(629, key, "'" + x.monitor + "' has no spectrum to look up",
                 "leave it out; index counts values");
      continue;
    }
    const auto [low, high] = std::minmax_element(f.begin(), f.end());
    if (*x.frequency < *low * (1 - 1e-6) || *x.frequency > *high * (1 + 1e-6))
      checks.say(629, key,
                 fmt::format("is outside of the band of '{}', {:.6g} to {:.6g} Hz", x.monitor, *low,
                             *high),
                 "expect what it has");
  }
}

}  // namespace tessera::apps::waves
