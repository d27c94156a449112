// SPDX-License-Identifier: Apache-2.0
//
// A stage of a run as data: what atoms feel, how they move, which of them are held; and what that
// is at the frame where the stage begins, which is where the one before it has ended.
//
//   Frame frame = start;
//   for (const Stage& stage : stages) {
//     const StageStart at = stage_start(stage, topology, start, frame);
//     const auto run = begin_stage(stage, at, frame);  // stage_run.h
//     while (!run->done()) run->advance(run->step() + 100);
//     frame = run->frame();
//   }
//
// Units: nm, ps, kJ/mol, e, amu, K, bar. Groups of atoms are words (groups.h), which are looked up
// where the stage begins.
#pragma once
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/groups.h"
#include "tessera/molecular/minimize.h"
#include "tessera/molecular/nonbonded.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::molecular {

enum class StageType : std::uint8_t {
  dynamics,  ///< motion in time
  minimize,  ///< down to a minimum of the energy
  rerun      ///< energies and forces of the frames of a trajectory
};

struct Stage {
  std::string name;
  StageType type = StageType::dynamics;
  std::int64_t n_steps = 0;      ///< minimize: at most; dynamics: 0 looks at the frame as it is
  std::filesystem::path frames;  ///< rerun: the trajectory

  // What atoms feel.
  Nonbonded nonbonded;  ///< without a box a cut-off may be infinite (`in_box`)
  ForceOptions force_options;
  bool exact = false;  ///< in sums of doubles, many times slower: for reruns, and where no step
                       ///< follows
  Rigid constraints = Rigid::none;
  bool rigid_water = false;                 ///< as `constrained` has it
  std::optional<double> hydrogen_mass_amu;  ///< heavy_hydrogens
  std::string held;                         ///< by springs where the stage begins
  double held_k = 1000;                     ///< of each along x, y and z [kJ/mol/nm^2]
  RestraintScaling restraint_scaling = RestraintScaling::none;  ///< of all position restraints

  // How they move. Lists of atoms in `dynamics` and `minimization` are made of the groups here.
  Dynamics dynamics;  ///< times of `annealing` are counted from the beginning of the stage
  Minimization minimization;
  FrozenGroups frozen;
  std::vector<BathGroup> baths;  ///< every atom in exactly one of them; empty: one bath of all
  /// The bath goes evenly from here to its temperature over the stage, each of `baths` to its own.
  std::optional<double> heat_from_k;
  std::optional<bool> draws_velocities;       ///< at the beginning; else where the frame has none
  std::optional<double> drawn_temperature_k;  ///< theirs; else that of the bath at the beginning

  bool pressure_tensor = false;  ///< among what is reported (stage_run.h)

  bool minimizes() const { return type == StageType::minimize; }
};

/// The options where an infinite cut-off is none at all: without a box, nothing reaches it, and
/// there is no mean density beyond any.
Nonbonded in_box(Nonbonded options, const Box& box);

/// What a stage is where it begins.
struct StageStart {
  System system;                        ///< with its rigid bonds, masses, position restraints
  Nonbonded nonbonded;                  ///< in_box of the beginning; of dynamics with the grid of
                                        ///< PME there, which stays while the box changes
  std::size_t topology_restraints = 0;  ///< how many of the restraints, the first, are the
                                        ///< topology's; the others are those of `held`
  Dynamics dynamics;  ///< with its baths, their ramps in times of the run, and what is frozen
  Minimization minimization;  ///< with what is frozen
};
/// Of a topology whose position restraints hold to positions of the structure `reference`: they
/// have moved with its box since, as restraint_scaling says; those of `held` are where the stage
/// begins.
/// Bonds are not rigid in a rerun, where atoms are looked at as they are, nor between frozen atoms.
/// Throws as atoms_of, temperature_groups, `constrained` and heavy_hydrogens.
StageStart stage_start(const Stage& stage, const System& topology, const Frame& reference,
                       const Frame& begin);

/// Its forces, all or a part; `box` is that of the beginning. Where it changes, position restraints
/// follow it, those of the topology and those of `held` each about their own centre.
ForceFunction stage_forces(const Stage& stage, const StageStart& at, const Box& box,
                           ForceOptions::Part part = ForceOptions::Part::all);

}  // namespace tessera::molecular
