// SPDX-License-Identifier: Apache-2.0
// Results that the runs of the case will have: that no two of them have one name, and that what
// [[expect]] asks for is among them, within their bands.
#include "electromagnetics/waves/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tessera::apps::waves {
namespace {

/// A result that there will be, and where it has a spectrum, at which frequencies.
struct Told {
  std::string name;
  std::vector<double> frequencies;
  std::string key;              ///< of what it is named after; nothing: it has always this name
  std::string difference = {};  ///< its quantity that is one number for all frequencies
  std::vector<std::string> quantities = {};  ///< nothing: not known before the run
};

/// Results of monitors of a kind, without those of fields, by component.
std::vector<std::string> quantities_of(MonitorKind kind) {
  switch (kind) {
    case MonitorKind::flux:
      return {"flux", "sums"};
    case MonitorKind::energy:
      return {"energy", "electric", "magnetic"};
    case MonitorKind::far_field:
      return {"directivity", "intensity", "power", "E_theta", "E_phi", "sums"};
    case MonitorKind::rcs:
      return {"rcs", "total", "sums"};
    case MonitorKind::ldos:
      return {"purcell", "ldos", "power"};
    case MonitorKind::orders:
      return {"power", "power_back", "s", "p", "s_back", "p_back", "sums"};
    case MonitorKind::resonances:
      return {"frequency", "quality", "decay", "amplitude", "error"};
    case MonitorKind::mode:
      return {"forward", "backward", "index", "beta", "impedance", "sums"};
    case MonitorKind::beam:
      return {"forward", "backward", "sums"};
    case MonitorKind::probe:
    case MonitorKind::dft:
    case MonitorKind::snapshot:
      return {};
  }
  return {};
}

/// All that the monitor of a run may have.
std::vector<std::string> quantities_of(const CaseOptions& o, const MonitorOptions& m) {
  std::vector<std::string> out = quantities_of(m.kind);
  const auto add = [&](std::initializer_list<const char*> names) {
    out.insert(out.end(), names.begin(), names.end());
  };
  if (out.empty())
    for (int c = 0; c < 6; ++c)
      if (m.components.empty() || std::find(m.components.begin(), m.components.end(),
                                            static_cast<Component>(c)) != m.components.end())
        add({electromagnetics::name_of(c)});
  if (m.relative_to && m.kind == MonitorKind::flux) add({"ratio"});
  if (m.relative_to && m.kind == MonitorKind::orders) add({"efficiency"});
  if (m.relative_to && (m.kind == MonitorKind::mode || m.kind == MonitorKind::beam))
    add({"forward_ratio", "backward_ratio"});
  if (m.kind == MonitorKind::rcs && !m.subtract && !m.subtract_reference)
    add({"absorption", "extinction"});
  if (m.kind == MonitorKind::far_field) {
    add({"axial_ratio"});
    if (m.co_polar) add({"co_polar", "cross_polar"});
    if (m.beam)
      add({"beam_theta", "beam_phi", "beam_directivity", "beam_width_e", "beam_width_h",
           "front_to_back", "side_lobe", "beam_axial_ratio"});
    if (!o.ports.empty())
      add({"gain", "realised_gain", "radiation_efficiency", "total_efficiency", "accepted_power",
           "incident_power"});
    if (!o.ports.empty() && m.beam) add({"beam_gain", "beam_realised_gain"});
  }
  const std::vector<std::string> own = out;
  for (const std::string& name : m.derivatives)
    for (const std::string& of : own) out.push_back(of + "_by_" + name);
  return out;
}

/// Those of monitors, one for each run.
void add_monitors(const CaseOptions& o, std::vector<Told>& out) {
  const std::vector<std::string> driven = driven_names(o);
  for (std::size_t i = 0; i < o.monitors.size(); ++i) {
    const MonitorOptions& m = o.monitors[i];
    const std::string key = item("monitor", i) + ".name";
    const std::vector<double> f =
        m.kind == MonitorKind::resonances ? std::vector<double>() : m.all_frequencies();
    const auto add = [&](const std::string& name) {
      const std::vector<std::string> quantities = quantities_of(o, m);
      out.push_back({name, f, key, {}, quantities});
      if (is_in_reference(o, m))
        out.push_back({name + "." + reference_name, f, key, {}, quantities});
    };
    if (driven.size() < 2) add(m.name);
    for (std::size_t k = 0; driven.size() > 1 && k < driven.size(); ++k)
      add(m.name + "." + driven[k]);
  }
}

/// All that a port may have: its waves where none is driven, else what S tells of it.
std::vector<std::string> quantities_of(PortKind kind, bool is_any_driven) {
  std::vector<std::string> out{"impedance"};
  if (is_any_driven)
    out.insert(out.end(), {"reference", "input_impedance", "vswr"});
  else
    out.insert(out.end(), {"in", "out"});
  if (kind == PortKind::mode) out.insert(out.end(), {"index", "beta"});
  return out;
}

/// All that s_parameters may have: S by element, its derivatives, and what belongs to all of it.
std::vector<std::string> quantities_of_s(const CaseOptions& o, bool many_frequencies) {
  std::vector<std::string> channels, out{"S", "in", "out", "echo", "reference"};
  if (many_frequencies) out.push_back("group_delay");
  for (const PortOptions& p : o.ports)
    for (const std::string& name : channel_names(p)) channels.push_back(name);
  for (const std::string& to : channels)
    for (const std::string& from : channels) {
      const std::string element = "S_" + to + "_" + from;
      out.push_back(element);
      for (const std::string& by : o.scattering.derivatives) out.push_back(element + "_by_" + by);
    }
  return out;
}

void add_ports(const CaseOptions& o, std::vector<Told>& out) {
  const ScatteringOptions& s = o.scattering;
  const std::vector<double> f = s.all_frequencies();
  const bool is_any_driven = !driven_names(o).empty();
  for (std::size_t i = 0; i < o.ports.size(); ++i) {
    const PortOptions& p = o.ports[i];
    const std::string key = item("port", i) + ".name";
    out.push_back({p.name, f, key, {}, quantities_of(p.kind, is_any_driven)});
    if (p.kind == PortKind::mode)
      for (const std::string& name : channel_names(p)) out.push_back({name + "_mode", {}, key});
  }
  if (!is_any_driven) return;
  out.push_back({scattering_name, f, {}, {}, quantities_of_s(o, f.size() > 1)});
  if (!s.pairs.empty()) out.push_back({"s_mixed", f, {}});
  if (!s.joins.empty()) out.push_back({"s_joined", f, {}});
  for (std::size_t i = 0; i < s.compare.size(); ++i)
    out.push_back({s.compare[i].name, f, item("s_parameters.compare", i) + ".name", "difference"});
  for (std::size_t i = 0; i < s.arrays.size(); ++i) {
    const ArrayOptions& x = s.arrays[i];
    const std::string key = item("s_parameters.array", i) + ".name";
    out.push_back({x.name, f, key});
    for (const MonitorOptions& m : o.monitors)
      if (m.kind == MonitorKind::far_field)
        out.push_back({m.name + "." + x.name, m.all_frequencies(), key});
  }
}

std::vector<Told> told_results(const CaseOptions& o) {
  std::vector<Told> out;
  add_monitors(o, out), add_ports(o, out);
  return out;
}

}  // namespace

void check_result_names(const CaseOptions& o, Checks& checks) {
  std::map<std::string, std::string> seen;  // the keys
  for (const Told& t : told_results(o)) {
    const auto [before, is_new] = seen.emplace(t.name, t.key);
    if (is_new) continue;
    const std::string key = t.key.empty() ? before->second : t.key,
                      other = t.key.empty() ? std::string() : before->second;
    checks.say(629, key,
               "two results would have one name, '" + t.name + "'" +
                   (other.empty() || other == key ? std::string() : ": that of " + other + ", too"),
               "give it another name");
  }
}

void check_expected(const CaseOptions& o, Checks& checks) {
  if (o.expectations.empty()) return;
  const std::vector<Told> all = told_results(o);
  std::vector<std::string> names;
  for (const Told& t : all) names.push_back(t.name);
  for (std::size_t i = 0; i < o.expectations.size(); ++i) {
    const ExpectOptions& x = o.expectations[i];
    checks.known(item("expect", i) + ".monitor", x.monitor, names, "monitor");
    const auto of =
        std::find_if(all.begin(), all.end(), [&](const Told& t) { return t.name == x.monitor; });
    if (of == all.end()) continue;
    if (x.quantity && !of->quantities.empty())
      checks.known(item("expect", i) + ".quantity", *x.quantity, of->quantities, "result");
    if (!x.frequency) continue;
    const std::vector<double>& f = of->frequencies;
    const std::string key = item("expect", i) + ".frequency";
    if (f.empty()) {
      checks.say(629, key, "'" + x.monitor + "' has no spectrum to look up",
                 "leave it out; index counts values");
      continue;
    }
    if (!of->difference.empty() && x.quantity == of->difference) {
      checks.say(629, key, "'" + of->difference + "' is one number for all frequencies",
                 "leave it out");
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
