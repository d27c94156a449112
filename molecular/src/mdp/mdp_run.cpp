// SPDX-License-Identifier: Apache-2.0
// The steps of the run: what moves, how far, which forces are slow.
#include "mdp/mdp_reader.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace tessera::molecular {

using data::shown;

void MdpReader::run() {
  const MdpIntegrator integrator = in_.chosen(mdp_integrator).value_or(MdpIntegrator::md);
  const bool minimizes = integrator == MdpIntegrator::steep || integrator == MdpIntegrator::l_bfgs;
  stage_.n_steps = in_.whole("nsteps", 0);
  if (stage_.n_steps < 0)
    in_.refuse(*in_.find("nsteps"), "nsteps",
               "say how many steps; a run is stopped by tessera stop at any time");
  frozen();
  if (minimizes) {
    stage_.type = StageType::minimize;
    stage_.force_options.precision = Precision::f64;
    stage_.minimization.method = integrator == MdpIntegrator::steep
                                     ? Minimization::Method::steepest_descent
                                     : Minimization::Method::lbfgs;
    stage_.minimization.force_tolerance = in_.positive("emtol", 10);
    stage_.minimization.first_move_nm = in_.positive("emstep", 0.01);
    return;
  }
  stage_.dynamics.scheme = integrator == MdpIntegrator::sd      ? Dynamics::Scheme::langevin
                           : integrator == MdpIntegrator::md_vv ? Dynamics::Scheme::velocity_verlet
                                                                : Dynamics::Scheme::leap_frog;
  dynamics();
}

void MdpReader::dynamics() {
  Dynamics& o = stage_.dynamics;
  o.dt_ps = in_.positive("dt", 0.001);
  stage_.draws_velocities = in_.yes("gen-vel", false);
  if (*stage_.draws_velocities) stage_.drawn_temperature_k = in_.number("gen-temp", 300);
  removal();
  slow_forces();
  thermostat(o.scheme == Dynamics::Scheme::langevin);
  barostat();
  tell_motion_that_stays();
}

/// comm-mode, nstcomm, and comm-grps where a motion is removed.
void MdpReader::removal() {
  Dynamics& o = stage_.dynamics;
  using Removal = Dynamics::CentreOfMassRemoval;
  const std::int64_t asked = in_.whole("nstcomm", 100), every = std::abs(asked);
  o.centre_of_mass_removal =
      every == 0 ? Removal::none : in_.chosen(mdp_comm_mode).value_or(Removal::linear);
  o.centre_of_mass_removal_every = o.centre_of_mass_removal == Removal::none ? 0 : every;
  if (asked < 0 && o.centre_of_mass_removal != Removal::none)
    in_.findings.note(727, in_.find("nstcomm")->at,
                      fmt::format("nstcomm = {} means {}, as in GROMACS", asked, every),
                      "comm-mode = angular removes rotation, too");
  const std::vector<data::Token> held = in_.words("comm-grps");
  if (o.centre_of_mass_removal == Removal::none) return;
  if (held.size() > 1 || (held.size() == 1 && mdp_name(held[0].text) != "system"))
    in_.findings.error(
        726, held[0].offset,
        fmt::format("the motion of {} cannot be removed by itself",
                    held.size() > 1 ? "each of several comm-grps" : shown(held[0].text)),
        "comm-grps = System: the motion of the whole is removed");
}

/// Of the whole, where GROMACS removes it and our steps do not (`Dynamics`).
void MdpReader::tell_motion_that_stays() {
  const Dynamics& o = stage_.dynamics;
  if (o.centre_of_mass_removal == Dynamics::CentreOfMassRemoval::none) return;
  const FrozenGroups& f = stage_.frozen;
  const bool freezes = !(f.all.empty() && f.x.empty() && f.y.empty() && f.z.empty());
  const char* why = o.scheme == Dynamics::Scheme::langevin           ? "integrator = sd"
                    : o.thermostat == Dynamics::Thermostat::andersen ? "tcoupl = andersen"
                    : freezes                                        ? "freezegrps"
                                                                     : nullptr;
  if (!why) return;
  const MdpEntries::Entry* e = in_.find("comm-mode");
  if (!e) e = in_.find("nstcomm");
  in_.findings.note(727, e ? e->at : in_.end(),
                    fmt::format("with {} the motion of the centre of mass stays: comm-mode and "
                                "nstcomm have no effect",
                                why),
                    "comm-mode = none says so in the file");
}

/// freezegrps, and Y or N for each group and axis.
void MdpReader::frozen() {
  const std::vector<data::Token> groups = in_.words("freezegrps"), dim = in_.words("freezedim");
  if (groups.empty()) return;
  if (dim.size() != 3 * groups.size()) {
    in_.findings.error(726, groups[0].offset,
                       fmt::format("{} of freezegrps want {} of freezedim, got {}", groups.size(),
                                   3 * groups.size(), dim.size()),
                       "Y or N for x, y and z of each group");
    return;
  }
  FrozenGroups& to = stage_.frozen;
  std::string* const along[] = {&to.x, &to.y, &to.z};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::array<bool, 3> stays{};
    for (std::size_t a = 0; a < 3; ++a) {
      const std::string v = mdp_name(dim[3 * g + a].text);
      if (v != "y" && v != "n" && v != "yes" && v != "no")
        in_.findings.error(726, dim[3 * g + a].offset,
                           "expected Y or N, got " + shown(dim[3 * g + a].text));
      stays[a] = v.starts_with('y');
    }
    const std::string selection = group(groups[g]);
    if (stays[0] && stays[1] && stays[2])
      join(to.all, selection);
    else
      for (std::size_t a = 0; a < 3; ++a)
        if (stays[a]) join(*along[a], selection);
  }
}

/// Multiple time steps of two levels, the slow one the reciprocal sum.
void MdpReader::slow_forces() {
  if (!in_.yes("mts", false)) return;
  if (in_.whole("mts-levels", 2) != 2) in_.refuse(*in_.find("mts-levels"), "mts-levels", "2");
  for (const data::Token& t : in_.words("mts-level2-forces"))
    if (mdp_name(t.text) != "longrange-nonbonded")
      in_.findings.error(726, t.offset, "slow forces " + shown(t.text) + " are not supported",
                         "mts-level2-forces = longrange-nonbonded");
  const std::int64_t every = in_.whole("mts-level2-factor", 2);
  if (every < 2) in_.refuse(*in_.find("mts-level2-factor"), "mts-level2-factor", "2 or more");
  stage_.dynamics.slow_every = every;
}

}  // namespace tessera::molecular
