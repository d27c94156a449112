// SPDX-License-Identifier: Apache-2.0
// Baths of the run: thermostats of groups, annealing, the barostat.
#include "mdp/mdp_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::molecular {

using data::shown;

void MdpReader::thermostat(bool langevin) {
  Dynamics& o = stage_.dynamics;
  const auto bath = in_.chosen(mdp_tcoupl).value_or(Dynamics::Thermostat::none);
  if (!langevin) o.thermostat = bath;
  if (bath == Dynamics::Thermostat::none && !langevin) return;
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
  o.tau_t_ps = tau[0];
  o.friction_per_ps = 1 / tau[0];
  o.temperature_k = ref[0];
  // With equal values Langevin's baths are one; other thermostats treat each group's kinetic
  // energy by itself.
  const bool one = groups.size() == 1 ? mdp_name(groups[0].text) == "system"
                                      : langevin && same(tau) && same(ref);
  for (std::size_t k = 0; k < groups.size() && !one; ++k) {
    const std::string g = group(groups[k]);
    stage_.baths.push_back({.atoms = g == "all"            ? "system"
                                     : g == "not protein"  ? "non-protein"
                                     : g == "not water"    ? "non-water"
                                     : g == "water or ion" ? "water_and_ions"
                                                           : g,
                            .temperature_k = ref[k],
                            .tau_t_ps = tau[k]});
  }
  annealing(groups.size());
}

void MdpReader::annealing(std::size_t groups) {
  const std::vector<data::Token> kinds = in_.words("annealing");
  if (std::ranges::all_of(kinds, [](const data::Token& t) { return mdp_name(t.text) == "no"; }))
    return;
  for (const data::Token& t : kinds)
    if (mdp_name(t.text) != "single")
      in_.findings.error(726, t.offset, "annealing = " + shown(t.text) + " is not supported",
                         "single, for all groups");
  if (groups != 1)
    in_.findings.error(726, kinds[0].offset, "annealing goes with one bath", "tc-grps = System");
  std::vector<double> time = in_.numbers("annealing-time"),
                      temperature = in_.numbers("annealing-temp");
  const auto given = static_cast<std::int64_t>(time.size());
  if (const MdpEntries::Entry* e = in_.find("annealing-npoints");
      e && groups == 1 && in_.whole("annealing-npoints", given) != given)
    in_.findings.error(
        726, e->at,
        fmt::format("annealing-npoints = {}, and {} annealing-time are given", e->value, given),
        "as many as there are times");
  if (time.size() != temperature.size() || time.empty())
    in_.findings.error(726, kinds[0].offset,
                       fmt::format("{} annealing-time and {} annealing-temp are given", time.size(),
                                   temperature.size()));
  else
    since_start(time, temperature);
  for (std::size_t k = 0; k < std::min(time.size(), temperature.size()); ++k)
    stage_.dynamics.annealing.push_back({time[k], temperature[k]});
}

/// GROMACS's times are those of the run; ours begin with the stage.
void MdpReader::since_start(std::vector<double>& time, std::vector<double>& temperature) const {
  for (double& t : time) t -= out_.start_ps;
  while (time.size() > 1 && time[0] < 0 && time[1] <= 0) {
    time.erase(time.begin());
    temperature.erase(temperature.begin());
  }
  if (time[0] >= 0) return;
  if (time.size() > 1)
    temperature[0] += (temperature[1] - temperature[0]) * -time[0] / (time[1] - time[0]);
  time[0] = 0;
}

/// The temperature that a barostat takes: that of the baths, or where there is none the one given.
void MdpReader::ensemble_temperature() {
  Dynamics& o = stage_.dynamics;
  const bool constant = in_.chosen(mdp_ensemble_temperature).value_or(false),
             bath = o.scheme == Dynamics::Scheme::langevin ||
                    o.thermostat != Dynamics::Thermostat::none;
  const double kelvin = in_.number("ensemble-temperature", -1);
  const MdpEntries::Entry* given = in_.find("ensemble-temperature");
  if (o.barostat != Dynamics::Barostat::c_rescale) {
    if (constant)
      in_.findings.note(727, given ? given->key_at : in_.end(),
                        "ensemble-temperature has no effect: no barostat here takes it");
    return;
  }
  const auto other = [&](double t) { return t != kelvin; };
  if (!bath && constant && kelvin >= 0)
    o.temperature_k = kelvin;
  else if (!bath)
    in_.refuse(*in_.find("pcoupl"), "pcoupl",
               "its noise has a temperature: give ensemble-temperature-setting = constant and "
               "ensemble-temperature, or a thermostat");
  else if (constant && (other(o.temperature_k) || !o.annealing.empty() ||
                        std::ranges::any_of(stage_.baths, other, &BathGroup::temperature_k)))
    in_.refuse(given ? *given : *in_.find("ensemble-temperature-setting"), "ensemble-temperature",
               "the barostat takes the temperatures of the baths");
}

void MdpReader::barostat() {
  using D = Dynamics;
  D& o = stage_.dynamics;
  stage_.restraint_scaling = in_.chosen(mdp_refcoord_scaling).value_or(RestraintScaling::none);
  o.barostat = in_.chosen(mdp_pcoupl).value_or(D::Barostat::none);
  ensemble_temperature();
  if (o.barostat == D::Barostat::none) return;
  o.scaling = in_.chosen(mdp_pcoupltype).value_or(D::Scaling::isotropic);
  o.tau_p_ps = in_.positive("tau-p", 5);
  if (!in_.find("tau-p"))
    in_.findings.note(727, in_.find("pcoupl")->at,
                      "tau-p is not given: 5 ps, GROMACS's default since 2024 (1 ps before)");
  const std::size_t n = o.scaling == D::Scaling::semi_isotropic ? 2
                        : o.scaling == D::Scaling::anisotropic  ? 6
                                                                : 1;
  const char* const types[] = {"isotropic", "semiisotropic", "anisotropic"};
  for (const auto& [key, to] :
       {std::pair{"ref-p", &o.pressure_bar}, {"compressibility", &o.compressibility_per_bar}}) {
    const std::vector<double> v = in_.numbers(key);
    const MdpEntries::Entry* e = in_.find(key);
    if (v.size() != n) {
      in_.findings.error(726, e ? e->at : in_.end(),
                         fmt::format("{} has {} numbers, pcoupltype = {} wants {}", key, v.size(),
                                     types[static_cast<int>(o.scaling)], n));
      continue;
    }
    if (n == 6 && std::string_view(key) == "compressibility" &&
        (v[3] != 0 || v[4] != 0 || v[5] != 0))
      in_.refuse(*e, key, "a box scales along x, y and z alone: write zeros for the last three");
    *to = n == 1   ? Vec3{v[0], v[0], v[0]}
          : n == 2 ? Vec3{v[0], v[0], v[1]}
                   : Vec3{v[0], v[1], v[2]};
  }
  if (const std::int64_t every = in_.whole("nstpcouple", -1); every > 0) o.barostat_every = every;
  const MdpEntries::Entry* every = in_.find("nstpcouple");
  if (every && o.barostat == D::Barostat::parrinello_rahman && o.barostat_every > 1)
    in_.findings.note(727, every->at,
                      "nstpcouple has no effect: the piston of pcoupl = parrinello-rahman moves in "
                      "every step");
}

}  // namespace tessera::molecular
