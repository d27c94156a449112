// SPDX-License-Identifier: Apache-2.0
// What atoms feel: interactions, constraints, box.
#include "mdp/mdp_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::molecular {

using data::shown;

void MdpReader::interactions() {
  coulomb();
  lennard_jones();
  stage_.constraints = in_.chosen(mdp_constraints).value_or(Rigid::none);
  stage_.rigid_water = false;  // those that the topology makes rigid stay so
  out_.periodic = in_.chosen(mdp_pbc).value_or(true);
  Nonbonded& n = stage_.nonbonded;
  if (out_.periodic || n.tail == Nonbonded::Tail::none) return;
  n.tail = Nonbonded::Tail::none;
  in_.findings.note(727, in_.find(mdp_dispcorr.key)->at, "DispCorr has no effect with pbc = no",
                    "there is no mean density beyond a cut-off");
}

void MdpReader::coulomb() {
  if (const MdpEntries::Entry* e = in_.find("cutoff-scheme"); e && mdp_name(e->value) != "verlet")
    in_.findings.note(727, e->at, "cutoff-scheme = " + shown(e->value) + " is obsolete",
                      "pairs come from buffered lists, as with the Verlet scheme");
  using N = Nonbonded;
  N& n = stage_.nonbonded;
  n.coulomb = in_.chosen(mdp_coulombtype).value_or(N::Coulomb::cutoff);
  n.coulomb_modifier = in_.chosen(mdp_coulomb_modifier).value_or(N::Modifier::potential_shift);
  n.cutoff_coulomb_nm = cut_off("rcoulomb");
  n.epsilon_r = in_.positive("epsilon-r", 1);
  if (n.coulomb == N::Coulomb::reaction_field) n.epsilon_rf = in_.number("epsilon-rf", 0);
  // readir.cpp, get_ir: the format of old, where epsilon-r was that of the field.
  if (n.coulomb == N::Coulomb::reaction_field && n.epsilon_rf == 1 && n.epsilon_r != 1) {
    std::swap(n.epsilon_r, n.epsilon_rf);
    in_.findings.note(
        727, in_.find("epsilon-rf")->at,
        fmt::format("epsilon-rf = 1 beside epsilon-r = {:g} is of an old format: "
                    "GROMACS exchanges the two",
                    n.epsilon_rf),
        "where 1 is meant beyond the cut-off, exchange epsilon_r and epsilon_rf of the case");
  }
  // GROMACS's plain cut-off, shifted, is a reaction field of the same permittivity: excluded
  // pairs are shifted, too.
  if (n.coulomb == N::Coulomb::cutoff && n.coulomb_modifier == N::Modifier::potential_shift) {
    n.coulomb = N::Coulomb::reaction_field;
    n.epsilon_rf = n.epsilon_r;
  }
  if (n.coulomb != N::Coulomb::pme && n.coulomb != N::Coulomb::ewald) return;
  n.ewald_rtol = in_.positive("ewald-rtol", 1e-5);
  n.fourier_spacing_nm = in_.number("fourierspacing", 0.12);
  const std::int64_t order = in_.whole("pme-order", 4);
  if (order < 4 || order > 8) in_.refuse(*in_.find("pme-order"), "pme-order", "4 to 8");
  n.pme_order = static_cast<int>(order);
  const char* const points[] = {"fourier-nx", "fourier-ny", "fourier-nz"};
  for (std::size_t a = 0; a < 3; ++a)  // 0: by fourierspacing, each edge for itself
    n.fourier_grid[a] = static_cast<int>(std::max<std::int64_t>(in_.whole(points[a], 0), 0));
}

void MdpReader::lennard_jones() {
  using M = Nonbonded::Modifier;
  Nonbonded& n = stage_.nonbonded;
  const std::optional<M> by_type = in_.chosen(mdp_vdwtype).value_or(std::nullopt);
  const M modifier = in_.chosen(mdp_vdw_modifier).value_or(M::none);
  n.lj_modifier = by_type.value_or(modifier);
  n.cutoff_lj_nm = cut_off("rvdw");
  if (n.lj_modifier == M::force_switch || n.lj_modifier == M::potential_switch)
    n.lj_switch_nm = in_.number("rvdw-switch", 0);
  n.tail = in_.chosen(mdp_dispcorr).value_or(Nonbonded::Tail::none);
  n.tail_pairs = Nonbonded::TailPairs::not_excluded;
}

}  // namespace tessera::molecular
