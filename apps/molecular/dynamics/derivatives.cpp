// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/derivatives.h"

#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/tree.h"
#include "tessera/molecular/parameters.h"

#include <fmt/format.h>

#include <cmath>

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

/// Whether forces go to zero at the cut-offs, so that they have derivatives everywhere.
bool is_smooth(const mol::Nonbonded& o, bool periodic) {
  using M = mol::Nonbonded::Modifier;
  if (!periodic) return true;
  return o.lj_modifier == M::force_switch || o.lj_modifier == M::potential_switch ||
         o.lj_modifier == M::linear_force_shift;
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
  const bool smooth = is_smooth(stage.nonbonded, periodic);
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
  if (!smooth)
    d.left_out.push_back(
        "forces: with this vdw_modifier they jump at the cut-off, where they have no derivative; "
        "take force-switch");
  if (system.constraints.size() > 0 || system.rigid_waters.size() > 0)
    d.left_out.push_back("lengths of constraints, on which no energy depends");
  return d;
}

}  // namespace tessera::apps::dynamics
