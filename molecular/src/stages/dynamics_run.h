// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "stages/stage_state.h"
#include "tessera/molecular/dynamics.h"

#include <functional>

namespace tessera::molecular::stages {

/// To look at a frame: kinetic energy and pressure are those of the velocities as they are.
Dynamics without_steps(Dynamics options, std::size_t n_atoms);

/// The forces of a stage, all or a part.
using ForcesOf = std::function<ForceFunction(ForceOptions::Part)>;

/// Steps in time, or a look at a frame.
class DynamicsRun : public StageRun {
 public:
  /// `dynamics`: those of `at`, or a look at a frame. Then `begin` or `restore` follows.
  DynamicsRun(const Stage& stage, const StageStart& at, const Dynamics& dynamics,
              const Frame& start, const ForcesOf& forces);
  /// Takes the frame as the stage begins with it, and computes forces.
  void begin(const Frame& start);

  void advance(std::int64_t to, bool reported) override;
  const Frame& last_good() const override { return last_; }
  bool done() const override { return step() >= stage_.n_steps; }
  std::string trouble() const override;
  const std::vector<std::string>& columns() const override { return columns_; }
  std::vector<double> row() const override { return row_of(state_, integrator_.energies(state_)); }
  const Frame& frame() const override { return state_.frame; }
  /// All forces at the frame: without the kick of a slow one for the steps that it stands for.
  const Forces& forces() const override;
  void save(data::Checkpoint& c) const override;
  void restore(const data::Checkpoint& c) override;
  const State& state() const { return state_; }
  double fastest_nm_ps() const;  ///< that an atom may be

 protected:
  /// With velocities, drawn where the stage says so.
  Frame prepared(const Frame& start) const;
  std::vector<double> row_of(const State& m, const Energies& e) const;

  const Stage& stage_;
  const StageStart& at_;
  Dynamics dynamics_;
  mutable State state_;
  Frame last_;

 private:
  std::vector<Term> terms_;
  std::vector<std::string> columns_;
  Integrator integrator_;
  bool periodic_, tensor_, whole_tensor_;
  double begin_ps_;
  double mass_amu_ = 0;
  mutable Forces all_;  ///< what `forces` has put together
};

}  // namespace tessera::molecular::stages
