// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/derivatives.h"

#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/tree.h"
#include "tessera/molecular/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tessera::apps::dynamics {
namespace {

constexpr double move_nm = 5e-4, share = 0.02,
                 angle_rad = 0.02;  ///< how far positions, values and angles are moved

/// Values move by a share of themselves; angles that may be zero (column `angle`) by a constant,
/// multiplicities (`whole`) not at all.
Tensor reach_of(const Tensor& t, int angle, int whole) {
  const auto values = t.data<double>();
  const std::size_t width = t.shape().size() > 1 ? static_cast<std::size_t>(t.shape()[1]) : 1;
  std::vector<double> out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const int column = static_cast<int>(k % width);
    out.push_back(column == whole ? 0 : column == angle ? angle_rad : share * std::abs(values[k]));
  }
  return tensor(out, t.shape());
}

/// What makes forces jump at a cut-off, where they have no derivative, and what does not; empty
/// where they go to zero there, or nothing is cut off.
std::string jump_of(const Stage& stage, bool periodic, bool charged) {
  using N = mol::Nonbonded;
  using M = N::Modifier;
  const N& o = stage.nonbonded;
  const auto cut = [&](double cut_off) { return periodic || std::isfinite(cut_off); };
  const bool lj_ends = o.lj_modifier == M::force_switch || o.lj_modifier == M::potential_switch ||
                       o.lj_modifier == M::linear_force_shift;
  if (cut(stage.settings.rvdw) && !lj_ends)
    return "with this vdw_modifier they jump at the cut-off, where they have no derivative; take "
           "force-switch";
  const bool coulomb_ends = o.coulomb == N::Coulomb::none || o.coulomb == N::Coulomb::pme ||
                            o.coulomb == N::Coulomb::ewald ||
                            (o.coulomb == N::Coulomb::reaction_field && o.epsilon_rf == 0) ||
                            o.coulomb_modifier == M::linear_force_shift;
  if (charged && cut(stage.settings.rcoulomb) && !coulomb_ends)
    return "with this coulombtype they jump at the cut-off, where they have no derivative; take "
           "pme, reaction-field with epsilon_rf = 0, or coulomb_modifier = \"force-shift\"";
  return {};
}

}  // namespace

Derivatives derivatives(const Case& c) {
  const Stage& stage = c.stages.front();
  const mol::System system = stage_start(c, stage, c.start).system;
  const bool periodic = mol::is_periodic(c.start.box);
  const mol::PotentialEnergy u(system, stage.nonbonded, c.start.box);
  const mol::Parameters all = mol::parameters(system);
  const Tensor h = mol::edges_of(c.start.box), x = mol::positions_of(c.start.x_nm);

  Derivatives d;
  d.parameters.push_back({"positions", x, full(x.shape(), move_nm)});
  if (periodic) {
    std::vector<double> reach(9, 0.0);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b <= a; ++b) reach[3 * a + b] = 2e-3 * c.start.box.edge[a][a];
    d.parameters.push_back({"box", h, tensor(reach, {3, 3})});
  }
  // Tables by their index among the leaves; the first two operands are x and h.
  std::vector<std::size_t> leaf;
  const std::vector<Tensor> leaves = flatten_tree(all);
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const std::string name = mol::parameter_names()[k];
    if (leaves[k].size() == 0 || name == "constraints" || name == "rigid_waters") continue;
    const bool turns = name == "dihedrals" || name == "impropers" || name == "harmonic_impropers";
    d.parameters.push_back(
        {name, leaves[k],
         reach_of(leaves[k], turns ? 0 : -1, name == "dihedrals" || name == "impropers" ? 2 : -1)});
    leaf.push_back(k);
  }
  const bool charged = std::ranges::any_of(system.atoms.charge_e, [](double q) { return q != 0; });
  const std::string jump = jump_of(stage, periodic, charged);
  const bool smooth = jump.empty();
  d.results = {"energy"};
  if (smooth) d.results.push_back("forces");
  d.values = [=](const std::vector<Tensor>& p) {
    std::vector<Tensor> now = leaves;
    const std::size_t first = periodic ? 2 : 1;
    for (std::size_t k = 0; k < leaf.size(); ++k) now[leaf[k]] = p[first + k];
    const mol::Parameters parameters = unflatten_tree(all, now);
    const Tensor box = periodic ? p[1] : h;
    std::vector<Tensor> out = {u(p[0], box, parameters)};
    if (smooth) out.push_back(mol::forces(u, p[0], box, parameters));
    return out;
  };
  d.lines = {
      fmt::format("{} atoms where stage '{}' begins; positions moved by up to {} nm, tables by "
                  "{:g} % of their values",
                  system.n_atoms(), stage.name, move_nm, 100 * share)};
  if (!smooth) d.left_out.push_back("forces: " + jump);
  if (system.constraints.size() > 0 || system.rigid_waters.size() > 0)
    d.left_out.push_back("lengths of constraints, on which no energy depends");
  return d;
}

}  // namespace tessera::apps::dynamics
