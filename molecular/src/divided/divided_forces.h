// SPDX-License-Identifier: Apache-2.0
//
// Forces that ranks compute together for the one that has all atoms: of minimizers, of frames, of
// steps that are not divided. Rank 0 asks, the others are in `help`. Bits are those of a
// ForceEvaluator alone.
#pragma once
#include "tessera/molecular/forces.h"
#include "tessera/parallel/communicator.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::molecular {

/// Why they are computed on one rank alone; empty where they can be divided.
std::string why_forces_not_divided(const Nonbonded& options, const Box& box);

class DividedForces {
 public:
  /// All ranks with the same arguments; `weights`: shares of the atoms, or none.
  DividedForces(const System& system, const Nonbonded& options, const ForceOptions& run,
                parallel::Communicator& ranks, std::vector<double> weights);

  /// At rank 0: forces of a part, of all atoms. The slow part is that of the positions that the
  /// fast one was asked of before it. The last copy to go ends the others' help.
  ForceFunction of(ForceOptions::Part part) const;
  /// At rank 0: another one wanted to stop when forces were last computed.
  bool others_want_to_stop() const;
  /// At the others, until the end.
  void help(const std::function<bool()>& wants_to_stop) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tessera::molecular
