// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/stage.h"

#include "stages/exact_forces.h"
#include "stages/held_positions.h"
#include "stages/stage_forces.h"
#include "tessera/molecular/pme.h"

#include <cmath>
#include <utility>

namespace tessera::molecular {
namespace {

constexpr double everywhere_nm = 1e6;  ///< a cut-off that nothing in vacuum reaches

/// Springs on atoms at their positions.
void restrain(System& system, const std::vector<Vec3>& at, double k,
              const std::vector<std::int32_t>& atoms) {
  for (const std::int32_t atom : atoms) {
    const auto i = static_cast<std::size_t>(atom);
    if (!(system.atoms.mass_amu[i] > 0)) continue;
    const Vec3& x = at[i];
    system.position_restraints.atoms.push_back({atom});
    system.position_restraints.row.push_back(
        static_cast<std::int32_t>(system.position_restraints.rows.size()));
    system.position_restraints.rows.push_back({k, k, k, x[0], x[1], x[2]});
  }
}

/// Some of the restraints, one after another.
PositionRestraints some(const PositionRestraints& r, std::size_t first, std::size_t last) {
  const auto at = [](std::size_t k) { return static_cast<std::ptrdiff_t>(k); };
  return {{r.atoms.begin() + at(first), r.atoms.begin() + at(last)},
          {r.row.begin() + at(first), r.row.begin() + at(last)},
          r.rows};
}

/// The steps: with the baths and their ramps in times of the run.
Dynamics dynamics_at(const Stage& stage, const System& topology, const Frame& begin) {
  Dynamics out = stage.dynamics;
  out.annealing.clear();
  if (stage.heat_from_k) out.annealing = {{begin.time_ps, *stage.heat_from_k}};
  if (stage.heat_from_k && stage.n_steps > 0)
    out.annealing.push_back(
        {begin.time_ps + static_cast<double>(stage.n_steps) * out.dt_ps, out.temperature_k});
  for (const auto& [time_ps, temperature_k] : stage.dynamics.annealing)
    out.annealing.push_back({begin.time_ps + time_ps, temperature_k});
  out.groups = temperature_groups(stage.baths, out.annealing, stage.heat_from_k.has_value(),
                                  topology, begin);
  return out;
}

}  // namespace

Nonbonded in_box(Nonbonded o, const Box& box) {
  if (is_periodic(box)) return o;
  o.tail = Nonbonded::Tail::none;
  if (std::isinf(o.cutoff_coulomb_nm)) {
    o.cutoff_coulomb_nm = everywhere_nm;
    o.coulomb_modifier = Nonbonded::Modifier::none;
  }
  if (std::isinf(o.cutoff_lj_nm)) {
    o.cutoff_lj_nm = everywhere_nm;
    o.lj_modifier = Nonbonded::Modifier::none;
  }
  return o;
}

StageStart stage_start(const Stage& stage, const System& topology, const Frame& reference,
                       const Frame& begin) {
  StageStart at{.system = topology,
                .nonbonded = in_box(stage.nonbonded, begin.box),
                .topology_restraints = topology.position_restraints.size(),
                .dynamics = {},
                .minimization = stage.minimization};
  // One energy of positions and box, whatever becomes of the box: on two grids it differs by the
  // errors of both, which a barostat's trials would take for work.
  if (stage.type == StageType::dynamics && is_periodic(begin.box) &&
      at.nonbonded.coulomb == Nonbonded::Coulomb::pme)
    at.nonbonded.fourier_grid = pme_grid(at.nonbonded, begin.box);
  const std::vector<std::array<bool, 3>> frozen = frozen_atoms(stage.frozen, topology, begin);
  if (is_periodic(begin.box) && is_periodic(reference.box)) {
    PositionRestraints& r = at.system.position_restraints;
    if (stage.restraint_scaling == RestraintScaling::centre)
      r = stages::in_one_piece(std::move(r), topology, reference);
    r = moved_with_box(std::move(r), reference.box, begin.box, stage.restraint_scaling);
  }
  if (stage.constraints != Rigid::none || stage.rigid_water)
    at.system = constrained(std::move(at.system), stage.constraints, stage.rigid_water);
  if (stage.type == StageType::rerun) {
    at.system.constraints = {};
    at.system.rigid_waters = {};
  } else {
    at.system = without_frozen_bonds(std::move(at.system), frozen);
  }
  if (stage.hydrogen_mass_amu && stage.type != StageType::rerun)
    at.system = heavy_hydrogens(std::move(at.system), *stage.hydrogen_mass_amu);
  if (!is_no_group(stage.held)) {
    const std::vector<std::int32_t> held = atoms_of(stage.held, topology, begin);
    restrain(at.system, stages::held_positions(at.system, begin, held, stage.restraint_scaling),
             stage.held_k, held);
  }
  if (stage.type == StageType::dynamics) at.dynamics = dynamics_at(stage, topology, begin);
  at.dynamics.frozen = frozen;
  at.minimization.frozen = frozen;
  return at;
}

namespace stages {
namespace {

/// In a box that stays, too: the pressure is that of positions that move with it.
bool restraints_move(const Stage& stage, const StageStart& at, const Box& box) {
  return is_periodic(box) && at.system.position_restraints.size() > 0 &&
         stage.restraint_scaling != RestraintScaling::none;
}

}  // namespace

System force_system(const Stage& stage, const StageStart& at, const Box& box) {
  System free = at.system;
  if (restraints_move(stage, at, box)) free.position_restraints = {};
  return free;
}

ForceFunction with_moving_restraints(const Stage& stage, const StageStart& at, const Box& box,
                                     ForceOptions::Part part, ForceFunction base) {
  if (part == ForceOptions::Part::slow || !restraints_move(stage, at, box)) return base;
  const PositionRestraints& restraints = at.system.position_restraints;
  // Each kind about its own centre: other atoms that are held do not shift the positions of the
  // topology.
  base = with_position_restraints(std::move(base), some(restraints, 0, at.topology_restraints), box,
                                  stage.restraint_scaling);
  return with_position_restraints(std::move(base),
                                  some(restraints, at.topology_restraints, restraints.size()), box,
                                  stage.restraint_scaling);
}

}  // namespace stages

ForceFunction stage_forces(const Stage& stage, const StageStart& at, const Box& box,
                           ForceOptions::Part part) {
  const System system = stages::force_system(stage, at, box);
  ForceOptions run = stage.force_options;
  run.part = part;
  return stages::with_moving_restraints(
      stage, at, box, part,
      stage.exact ? exact_forces(system, at.nonbonded, box)
                  : ForceFunction(ForceEvaluator(system, at.nonbonded, run)));
}

}  // namespace tessera::molecular
