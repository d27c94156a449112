// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../energy/fixed.h"
#include "tessera/molecular/nonbonded.h"

#include <memory>
#include <vector>

namespace tessera::molecular {

/// What excluded pairs add to the sum (the reaction field), as runs take it: with the parameters of
/// the system.
class PairTerm : public EnergyFunction {
 public:
  virtual void add_excluded(const std::vector<Vec3>& x, const Box& box, Sums& sums) const = 0;
};
using PairTermPtr = std::shared_ptr<const PairTerm>;
PairTermPtr pair_term(const System& system, const Nonbonded& options);

}  // namespace tessera::molecular
