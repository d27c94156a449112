// SPDX-License-Identifier: Apache-2.0
// What atoms feel: interactions, constraints, box.
#include "molecular/dynamics/mdp_case.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::dynamics {

using data::shown;

void MdpCase::interactions() {
  heading("The interactions.");
  coulomb();
  lennard_jones();
  choice(mdp_constraints, "constraints");
  line("rigid_water", "false  # those that the topology makes rigid stay so");
  box();
}

void MdpCase::coulomb() {
  if (const MdpEntries::Entry* e = in_.find("cutoff-scheme"); e && plain(e->value) != "verlet")
    in_.findings.note(727, e->at, "cutoff-scheme = " + shown(e->value) + " is obsolete",
                      "pairs come from buffered lists, as with the Verlet scheme");
  const std::string type = in_.chosen(mdp_coulombtype);
  const std::string modifier = in_.chosen(mdp_coulomb_modifier);
  // GROMACS's plain cut-off, shifted, is a reaction field of the same permittivity: excluded
  // pairs are shifted, too.
  const bool shifted = type == "cut-off" && modifier == "potential-shift";
  line("coulombtype", in_quotes(shifted ? "reaction-field" : type));
  line("rcoulomb", cut_off("rcoulomb"));
  line("coulomb_modifier", in_quotes(modifier));
  const double epsilon_r = in_.number("epsilon-r", 1);
  line("epsilon_r", fmt::format("{}", epsilon_r));
  if (type == "reaction-field") line("epsilon_rf", fmt::format("{}", in_.number("epsilon-rf", 0)));
  if (shifted) line("epsilon_rf", fmt::format("{}", epsilon_r));
  if (type != "pme" && type != "ewald") return;
  line("ewald_rtol", fmt::format("{}", in_.number("ewald-rtol", 1e-5)));
  line("fourierspacing", fmt::format("\"{} nm\"", in_.number("fourierspacing", 0.12)));
  const std::int64_t order = in_.whole("pme-order", 4);
  if (order < 4 || order > 8) in_.refuse(*in_.find("pme-order"), "pme-order", "4 to 8");
  line("pme_order", fmt::format("{}", order));
  const std::int64_t k[3] = {in_.whole("fourier-nx", 0), in_.whole("fourier-ny", 0),
                             in_.whole("fourier-nz", 0)};
  if (k[0] > 0 && k[1] > 0 && k[2] > 0)
    line("fourier_grid", fmt::format("[{}, {}, {}]", k[0], k[1], k[2]));
}

void MdpCase::lennard_jones() {
  const std::string type = in_.chosen(mdp_vdwtype);
  const std::string modifier = in_.chosen(mdp_vdw_modifier);
  const std::string taken = type == "cut-off" ? modifier : type;
  line("vdw_modifier", in_quotes(taken));
  line("rvdw", cut_off("rvdw"));
  if (taken.ends_with("switch"))
    line("rvdw_switch", fmt::format("\"{} nm\"", in_.number("rvdw-switch", 0)));
  choice(mdp_dispcorr, "DispCorr");
}

void MdpCase::box() {
  const std::string pbc = in_.chosen(mdp_pbc);
  if (pbc == "no") line("box", "\"none\"");
}

}  // namespace tessera::apps::dynamics
