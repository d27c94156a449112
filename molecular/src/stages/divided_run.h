// SPDX-License-Identifier: Apache-2.0
//
// A stage of steps in time that ranks take together. Rank 0 has it as a StageRun; the others are
// asked by it for what they do.
#pragma once
#include "divided/divided_forces.h"
#include "stages/dynamics_run.h"
#include "tessera/molecular/divided_dynamics.h"
#include "tessera/parallel/communicator.h"

namespace tessera::molecular::stages {

struct Asked;

/// Forces of this rank alone.
ForcesOf forces_alone(const Stage& stage, const StageStart& at, const Box& box);
/// Forces of all ranks, without those of restraints that follow the box: of stages whose steps rank
/// 0 takes.
DividedForces divided_forces(const Stage& stage, const StageStart& at, const Box& box,
                             const StageRanks& ranks);

class DividedRun final : public DynamicsRun {
 public:
  DividedRun(const Stage& stage, const StageStart& at, const Frame& start, const StageRanks& ranks);
  ~DividedRun() override;
  void begin(const Frame& start);

  /// Where a step goes wrong the steps are taken again, by rank 0 alone, which then tells of it as
  /// one process does.
  void advance(std::int64_t to, bool reported) override;
  std::string trouble() const override { return alone_ ? DynamicsRun::trouble() : std::string(); }
  std::vector<double> row() const override;
  const Frame& frame() const override;
  const Forces& forces() const override;
  void save(data::Checkpoint& c) const override;
  void restore(const data::Checkpoint& c) override;
  std::int64_t step() const override;
  bool others_want_to_stop() const override { return others_stop_; }

 private:
  /// Asks the others, and does its own part of it.
  template <class F>
  void together(const Asked& asked, F&& f) const;
  void gather() const;

  parallel::Communicator& ranks_;
  mutable DividedDynamics steps_;
  bool alone_ = false;  ///< a step has gone wrong
  bool others_stop_ = false;
  mutable bool is_gathered_ = false;  ///< state_ is that of all atoms
  mutable bool in_between_ = true;    ///< the others wait to be asked
};

}  // namespace tessera::molecular::stages
