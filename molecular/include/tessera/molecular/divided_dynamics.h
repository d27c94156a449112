// SPDX-License-Identifier: Apache-2.0
//
// Steps in time whose atoms are divided among ranks: each has a region of the periodic box, and
// copies of the atoms near to it. Every bit is that of an Integrator that has all atoms, on any
// number of ranks and with any shares.
//
//   DividedDynamics run(system, nonbonded, {}, dynamics, ranks);   // the same at every rank
//   run.begin(frame);
//   run.step(1000);
//   const Energies e = run.energies();                              // at every rank
//   const State all = run.whole();                                  // at rank 0
//
// All ranks make the same calls in the same order. What goes wrong on one rank is thrown on all;
// after an Error of `step` there is only `whole_before`.
#pragma once
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/force_options.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::parallel {
class Communicator;
}

namespace tessera::molecular {

/// Why steps of it run on one rank alone: "there is no periodic box"; empty where they can be
/// divided.
std::string why_not_divided(const Nonbonded& options, const Dynamics& dynamics, const Box& box);

class DividedDynamics {
 public:
  /// `weights`: shares of the atoms, one for each rank; empty: equal ones. Throws Error where
  /// options contradict each other, or steps cannot be divided.
  DividedDynamics(const System& system, const Nonbonded& options, const ForceOptions& forces,
                  const Dynamics& dynamics, parallel::Communicator& ranks,
                  std::vector<double> weights = {});
  ~DividedDynamics();
  DividedDynamics(DividedDynamics&&) noexcept;

  /// Integrator::begin; a frame of all atoms, the same at every rank.
  void begin(Frame frame);
  /// Goes on from a State of all atoms, the same at every rank.
  void go_on(const State& whole);
  /// Integrator::step.
  void step(std::int64_t n = 1, bool reported = true);

  Energies energies() const;
  /// Whether no atom of any rank is faster than this.
  bool slower_than(double speed_nm_ps) const;
  /// Of this rank's own atoms; what is not of atoms is that of all.
  const State& state() const;
  /// Numbers of this rank's own atoms, ascending.
  const std::vector<std::int32_t>& own() const;
  /// Own atoms and copies.
  std::size_t atoms_with_copies() const;
  /// The state of all atoms, at rank 0; at others only what is not of atoms.
  State whole() const;
  /// That before the last call of `step`.
  State whole_before() const;
  /// Spent on forces [s].
  double seconds_of_forces() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::molecular
