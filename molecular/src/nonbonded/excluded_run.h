// SPDX-License-Identifier: Apache-2.0
//
// u = -q q erf(beta r)/r of excluded pairs (ewald.h) as runs take them; q q = k_e/e_r q_i q_j. With
// z = beta^2 r^2
//
//   u = -q q beta g(z),   f_i = -q q beta^3 f(z) d      (excluded_batch.h)
#pragma once
#include "../energy/fixed.h"
#include "excluded_batch.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"

#include <array>
#include <vector>

namespace tessera::molecular {

class ExcludedRun {
 public:
  /// `shapes`: of the options' beta; `counted`: so many exclusions, the first of the system's.
  ExcludedRun(const System& system, const Nonbonded& options, const ExcludedShapes& shapes,
              std::size_t counted);
  std::size_t size() const { return pairs_.size(); }
  std::size_t counted() const { return counted_; }  ///< of its pairs, which have charges
  /// Adds forces of the pairs [begin, end), and energies and the virial where wanted.
  void add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end, bool energies,
           Sums& sums) const;

 private:
  ExcludedShapes shapes_;
  std::size_t counted_ = 0;
  std::vector<std::array<std::int32_t, 2>> pairs_;
  std::vector<double> strength_;  ///< q q beta
};

}  // namespace tessera::molecular
