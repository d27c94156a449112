// SPDX-License-Identifier: Apache-2.0
//
// A stage (stage.h) while it runs: some steps at a time, one row of numbers when asked, and all of
// it in a checkpoint, from which it goes on bit by bit.
#pragma once
#include "tessera/data/checkpoint.h"
#include "tessera/molecular/stage.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::parallel {
class Communicator;
}

namespace tessera::molecular {

class StageRun {
 public:
  virtual ~StageRun() = default;
  /// Steps up to number `to`, as far as they are of use; energies of the last are computed where
  /// they are reported. Throws Error where no step can be taken; the state is then of no use.
  virtual void advance(std::int64_t to, bool reported = true) = 0;
  /// The frame before a step that threw or that `trouble` tells of.
  virtual const Frame& last_good() const { return frame(); }
  virtual bool done() const = 0;
  /// Not even the next step can be trusted: why; empty where all is well.
  virtual std::string trouble() const = 0;

  /// Names of what `row` gives (columns_of), their units in `unit_of`.
  virtual const std::vector<std::string>& columns() const = 0;
  virtual std::vector<double> row() const = 0;
  /// `step` counts those of the stage, or its frames.
  virtual const Frame& frame() const = 0;
  virtual const Forces& forces() const = 0;

  virtual void save(data::Checkpoint& out) const = 0;
  virtual void restore(const data::Checkpoint& in) = 0;
  virtual std::int64_t step() const { return frame().step; }
  /// Another rank has been asked to stop.
  virtual bool others_want_to_stop() const { return others_stop && others_stop(); }
  std::function<bool()> others_stop;  ///< null: there are none

  struct Seconds {
    double forces = 0, steps = 0;
  };
  Seconds seconds;  ///< of the stage, by what they went into
};

/// The ranks that take the steps of a stage together; none: this process alone.
struct StageRanks {
  parallel::Communicator* all = nullptr;
  std::vector<double> weights;          ///< shares of the atoms (DividedDynamics)
  std::function<bool()> wants_to_stop;  ///< asked at ranks other than the first
};

/// A stage that begins at `start`; `stage` and `at` have to outlive it. With `fresh` its first
/// forces are computed (of a rerun those of its first frame), else `restore` follows. On ranks this
/// is rank 0; the others are in `help_stage` meanwhile. Throws Error where options contradict each
/// other or forces cannot be computed, InputError of the files of a rerun.
std::unique_ptr<StageRun> begin_stage(const Stage& stage, const StageStart& at, const Frame& start,
                                      bool fresh = true, const StageRanks& ranks = {});
/// What a stage of dynamics moves by: `at.dynamics`, or where it takes no step a look at its frame,
/// which asks for nothing that could move.
Dynamics dynamics_of(const Stage& stage, const StageStart& at);
/// Throws InputError (E0750) where a rerun cannot look at a frame, `step` its number: one without a
/// box where the stage begins in one, or the other way round, or a box narrower than two cut-offs.
void check_frame(const Stage& stage, const StageStart& at, const Box& start, const Frame& frame);
/// What ranks other than the first do of a stage, to its end; nothing where it is not divided.
void help_stage(const Stage& stage, const StageStart& at, const Frame& start,
                const StageRanks& ranks);
/// Why rank 0 takes the steps of a stage: "a minimization moves all atoms at once"; empty where
/// they are divided. It does so with the forces of all ranks, but where `why_forces_not_divided`
/// says why not: "it takes no steps".
std::string why_not_divided(const Stage& stage, const StageStart& at, const Box& box);
std::string why_forces_not_divided(const Stage& stage, const StageStart& at, const Box& box);

/// Names of the numbers that a stage gives of each frame. All stages: step, time_ps, each term of
/// the energy, potential. Dynamics: kinetic, total, conserved, temperature_k, that of each bath's
/// group (NAME_temperature_k), pressures, volume_nm3, density_kg_m3. Minimization:
/// largest_force_kj_mol_nm, largest_at (an atom, from 1), evaluations, state (Descent::Status).
/// Rerun: largest_force_kj_mol_nm, virial (its trace), volume_nm3. `box`: that of the start.
std::vector<std::string> columns_of(const Stage& stage, const StageStart& at, const Box& box);
/// Unit of a column: "bar" of "pressure_bar"; of energies "kJ mol-1", of counts "1".
std::string unit_of(const std::string& column);

}  // namespace tessera::molecular
