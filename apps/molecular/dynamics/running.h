// SPDX-License-Identifier: Apache-2.0
// A stage while it runs: one step at a time, one row of energies when asked, and all of it in a
// checkpoint.
#pragma once
#include "molecular/dynamics/case.h"
#include "tessera/data/checkpoint.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::apps::dynamics {

/// Seconds of a stage by what they went into.
struct Cycles {
  double forces = 0, steps = 0, energies = 0, output = 0;
};

class Running {
 public:
  virtual ~Running() = default;
  /// Steps up to number `to`, as far as they are of use; energies of the last are computed where
  /// they are reported. Throws tessera::Error where no step can be taken; the state is then of no
  /// use.
  virtual void advance(std::int64_t to, bool reported) = 0;
  /// The frame before a step that threw or that `trouble` tells of.
  virtual const mol::Frame& last_good() const { return frame(); }
  virtual bool done() const = 0;
  /// Not even the next step can be trusted: why; empty where all is well.
  virtual std::string trouble() const = 0;
  /// Names of what `row` gives; units are in the names where they are not kJ/mol.
  virtual const std::vector<std::string>& columns() const = 0;
  virtual std::vector<double> row() const = 0;
  virtual const mol::Frame& frame() const = 0;
  virtual const mol::Forces& forces() const = 0;
  virtual void save(data::Checkpoint& out) const = 0;
  virtual void restore(const data::Checkpoint& in) = 0;
  std::int64_t step() const { return frame().step; }

  Cycles cycles;
};

/// A stage that begins at `start`; with `fresh` its first forces are computed, else `restore`
/// follows.
std::unique_ptr<Running> make_running(const Case& c, const mol::System& system, const Stage& stage,
                                      const mol::Frame& start, bool fresh);

enum class ForcePart { all, fast };
/// Forces of a stage that begins at `start`; where the box changes under position restraints, their
/// reference positions follow it.
mol::ForceFunction forces_of(const Case& c, const mol::System& system, const Stage& stage,
                             const mol::Frame& start, ForcePart part = ForcePart::all);

/// Terms of the energy that a system has, in the order of `Term`.
std::vector<mol::Term> terms_of(const mol::System& system, const mol::Nonbonded& options,
                                bool periodic);

}  // namespace tessera::apps::dynamics
