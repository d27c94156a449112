// SPDX-License-Identifier: Apache-2.0
// Baths of the run: thermostats of groups, annealing, the barostat.
#include "molecular/dynamics/mdp_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tessera::apps::dynamics {

using data::shown;

void MdpCase::thermostat(bool langevin) {
  const std::string bath = in_.chosen(mdp_tcoupl);
  if (!langevin) line("tcoupl", in_quotes(bath));
  if ((bath == "no" || bath.empty()) && !langevin) return;
  const std::vector<data::Token> groups = in_.words("tc-grps");
  const std::vector<double> tau = in_.numbers("tau-t"), ref = in_.numbers("ref-t");
  const MdpEntries::Entry* named = in_.find("tc-grps");
  if (groups.empty() || tau.size() != groups.size() || ref.size() != groups.size()) {
    in_.findings.error(
        726, named ? named->at : in_.end(),
        fmt::format(
            "a bath wants as many tau-t ({}) and ref-t ({}) as tc-grps ({}), one at the least",
            tau.size(), ref.size(), groups.size()));
    return;
  }
  const auto same = [](const std::vector<double>& v) {
    return std::ranges::all_of(v, [&](double x) { return x == v[0]; });
  };
  if (std::ranges::any_of(tau, [](double t) { return t <= 0; }))
    in_.refuse(*in_.find("tau-t"), "tau-t", "all atoms feel the bath: times above 0");
  // With equal values Langevin's baths are one; other thermostats treat each group's kinetic
  // energy by itself.
  if (groups.size() == 1 ? plain(groups[0].text) == "system" : langevin && same(tau) && same(ref)) {
    line("tau_t", fmt::format("\"{} ps\"", tau[0]));
    line("ref_t", fmt::format("\"{} K\"", ref[0]));
  } else {
    std::string names;
    for (const data::Token& t : groups) {
      const std::string g = group(t);
      names += (names.empty() ? "" : ", ") + in_quotes(g == "all"            ? "system"
                                                       : g == "not protein"  ? "non-protein"
                                                       : g == "not water"    ? "non-water"
                                                       : g == "water or ion" ? "water_and_ions"
                                                                             : g);
    }
    line("tc_grps", "[" + names + "]");
    line("tc_tau_t", quantities(tau, "ps"));
    line("tc_ref_t", quantities(ref, "K"));
    line("ref_t", fmt::format("\"{} K\"", ref[0]));
  }
  annealing(groups.size());
}

void MdpCase::annealing(std::size_t groups) {
  const std::vector<data::Token> kinds = in_.words("annealing");
  if (std::ranges::all_of(kinds, [](const data::Token& t) { return plain(t.text) == "no"; }))
    return;
  for (const data::Token& t : kinds)
    if (plain(t.text) != "single")
      in_.findings.error(726, t.offset, "annealing = " + shown(t.text) + " is not supported",
                         "single, for all groups");
  if (groups != 1)
    in_.findings.error(726, kinds[0].offset, "annealing goes with one bath", "tc-grps = System");
  std::vector<double> time = in_.numbers("annealing-time"),
                      temperature = in_.numbers("annealing-temp");
  if (time.size() != temperature.size() || time.empty())
    in_.findings.error(726, kinds[0].offset,
                       fmt::format("{} annealing-time and {} annealing-temp are given", time.size(),
                                   temperature.size()));
  else
    since_start(time, temperature);
  line("annealing_time", quantities(time, "ps"));
  line("annealing_temp", quantities(temperature, "K"));
}

/// GROMACS's times are those of the run; ours begin with the stage.
void MdpCase::since_start(std::vector<double>& time, std::vector<double>& temperature) const {
  for (double& t : time) t -= start_ps_;
  while (time.size() > 1 && time[0] < 0 && time[1] <= 0) {
    time.erase(time.begin());
    temperature.erase(temperature.begin());
  }
  if (time[0] >= 0) return;
  if (time.size() > 1)
    temperature[0] += (temperature[1] - temperature[0]) * -time[0] / (time[1] - time[0]);
  time[0] = 0;
}

void MdpCase::barostat() {
  const std::string bath = choice(mdp_pcoupl, "pcoupl");
  if (bath == "no" || bath.empty()) return;
  const std::string type = choice(mdp_pcoupltype, "pcoupltype");
  quantity("tau-p", "tau_p", "ps");
  const std::size_t n = type == "semiisotropic" ? 2 : type == "anisotropic" ? 6 : 1;
  for (const auto& [key, ours, unit] :
       {std::tuple{"ref-p", "ref_p", "bar"},
        std::tuple{"compressibility", "compressibility", "1/bar"}}) {
    std::vector<double> v = in_.numbers(key);
    const MdpEntries::Entry* e = in_.find(key);
    if (v.size() != n) {
      in_.findings.error(
          726, e ? e->at : in_.end(),
          fmt::format("{} has {} numbers, pcoupltype = {} wants {}", key, v.size(), type, n));
      continue;
    }
    if (n == 6 && std::string_view(key) == "compressibility" &&
        (v[3] != 0 || v[4] != 0 || v[5] != 0))
      in_.refuse(*e, key, "angles of the box stay: write zeros for the last three");
    if (n == 2) v = {v[0], v[0], v[1]};
    if (n == 6) v.resize(3);
    line(ours, n == 1 ? fmt::format("\"{} {}\"", v[0], unit) : quantities(v, unit));
  }
  if (in_.whole("nstpcouple", -1) > 0)
    line("nstpcouple", fmt::format("{}", in_.whole("nstpcouple", -1)));
  choice(mdp_refcoord_scaling, "refcoord_scaling");
}

}  // namespace tessera::apps::dynamics
