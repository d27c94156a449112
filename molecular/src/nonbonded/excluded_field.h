// SPDX-License-Identifier: Apache-2.0
//
// The reaction field between excluded pairs (nonbonded.h) as runs take it; q q = k_e/e_r q_i q_j:
//
//   u = q q (k s - c),   f_i = -2 q q k d,   s = d.d below the square of the cut-off
#pragma once
#include "../energy/fixed.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"

#include <array>
#include <vector>

namespace tessera::molecular {

class ExcludedField {
 public:
  ExcludedField(const System& system, const Nonbonded& options);
  std::size_t size() const { return pairs_.size(); }
  /// Adds forces of the pairs [begin, end), and energies and the virial where wanted.
  void add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end, Sums& sums) const;

 private:
  double k_, c_, square_;
  std::vector<std::array<std::int32_t, 2>> pairs_;
  std::vector<double> strength_;  ///< q q
};

/// Of charges with themselves: -c/2 sum q q.
double field_of_itself(const System& system, const Nonbonded& options);

}  // namespace tessera::molecular
