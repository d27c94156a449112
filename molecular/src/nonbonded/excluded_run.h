// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../fixed.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"

#include <vector>

namespace tessera::molecular {

/// The terms -k_e/e_r q_i q_j erf(beta r)/r of excluded pairs (ewald.h) as runs take them.
class ExcludedRun {
 public:
  ExcludedRun(const System& system, const Nonbonded& options);
  std::size_t size() const { return pairs_.size(); }
  /// Adds forces of the pairs [begin, end), and energies and the virial where wanted.
  void add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end, bool energies, Sums& sums) const;

 private:
  struct Pair {
    std::int32_t i, j;
    double qq;  ///< k_e/e_r q_i q_j
  };
  std::vector<Pair> pairs_;
  double beta_, radius2_;
  std::vector<double> force_, energy_;  ///< series in t = 2 s/rc^2 - 1
};

}  // namespace tessera::molecular
