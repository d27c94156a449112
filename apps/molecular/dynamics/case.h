// SPDX-License-Identifier: Apache-2.0
// A case of molecular.dynamics, read and checked: units nm, ps, kJ/mol, e, amu from here on.
#pragma once
#include "molecular/dynamics/options.h"
#include "tessera/data/input_files.h"
#include "tessera/molecular/stage.h"

#include <string>
#include <vector>

namespace tessera::apps::dynamics {

namespace mol = tessera::molecular;

/// What one stage does, and the settings that say so.
struct Stage : mol::Stage {
  Settings settings;
};

struct Case {
  MdOptions options;
  mol::System system;  ///< as the topology has it, without constraints of the case
  /// The same with other names defined for its preprocessor, for stages that define them.
  std::vector<std::pair<std::vector<std::string>, mol::System>> variants;
  mol::Nonbonded::TailPairs tail_pairs =
      mol::Nonbonded::TailPairs::all;  ///< as the program of the topology counts
  mol::Frame start;
  mol::Frame reference;  ///< the structure, to whose positions the topology's restraints hold
  std::vector<std::int32_t> written;  ///< atoms that trajectories hold, where they are not all
  std::vector<Stage> stages;
  std::vector<data::InputFile> inputs;
  std::vector<data::Diagnostic> findings;  ///< warnings and notes
};

/// Reads everything that the configuration names. Throws InputError: E0750 no or unknown input,
/// E0751 settings that contradict each other, E0752 a cut-off above half of the box, and what the
/// readers throw.
Case make_case(const data::Config& config);

/// A stage that begins at `begin`.
mol::StageStart stage_start(const Case& c, const Stage& stage, const mol::Frame& begin);

}  // namespace tessera::apps::dynamics
