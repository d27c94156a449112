// SPDX-License-Identifier: Apache-2.0
// A case of molecular.dynamics, read and checked: units nm, ps, kJ/mol, e, amu from here on.
#pragma once
#include "molecular/dynamics/options.h"
#include "tessera/data/input_files.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/minimize.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"

#include <string>
#include <vector>

namespace tessera::apps::dynamics {

namespace mol = tessera::molecular;

/// What one stage does. Position restraints hold atoms where the stage begins, so its system is
/// made then (`system_of`).
struct Stage {
  std::string name;
  Settings settings;
  StageType type = StageType::dynamics;
  bool minimizes() const { return type == StageType::minimize; }
  bool exact = false;            ///< sums of doubles, where no step follows
  std::filesystem::path frames;  ///< of a rerun
  std::int64_t n_steps = 0;
  mol::Nonbonded nonbonded;
  mol::ForceOptions force_options;
  mol::Dynamics dynamics;          ///< but for baths and frozen atoms (`dynamics_at`)
  mol::Minimization minimization;  ///< but for frozen atoms (`minimization_at`)
};

struct Case {
  MdOptions options;
  mol::System system;  ///< as the topology has it, without constraints of the case
  /// The same with other names defined for its preprocessor, for stages that define them.
  std::vector<std::pair<std::vector<std::string>, mol::System>> variants;
  mol::Nonbonded::TailPairs tail_pairs =
      mol::Nonbonded::TailPairs::all;  ///< as the program of the topology counts
  mol::Frame start;
  std::vector<std::int32_t> written;  ///< atoms that trajectories hold, where they are not all
  std::vector<Stage> stages;
  std::vector<data::InputFile> inputs;
  std::vector<data::Diagnostic> findings;  ///< warnings and notes
};

/// Reads everything that the configuration names. Throws InputError: E0750 no or unknown input,
/// E0751 settings that contradict each other, E0752 a cut-off above half of the box, and what the
/// readers throw.
Case make_case(const data::Config& config);

/// The steps of a stage that begins at `start`: with its baths and their ramps, and what is frozen.
mol::Dynamics dynamics_at(const Case& c, const Stage& stage, const mol::Frame& start);
mol::Minimization minimization_at(const Case& c, const Stage& stage, const mol::Frame& start);

/// The system of a stage that begins at `start`: its rigid bonds, its position restraints.
/// Positions of restraints are those of the box of `start`: the topology's first, which are the
/// structure's and have moved with the box since, then those of posres.
mol::System system_of(const Case& c, const Stage& stage, const mol::Frame& start);
/// How many of them are the topology's.
std::size_t restraints_of_topology(const Case& c, const Stage& stage);
mol::RestraintScaling restraint_scaling(const Settings& settings);

/// "12 (CA of ALA 2)"
std::string name_of_atom(const mol::System& s, std::int32_t atom);

}  // namespace tessera::apps::dynamics
