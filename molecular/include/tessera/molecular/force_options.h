// SPDX-License-Identifier: Apache-2.0
//
// How the forces of a run are computed: what forces.h and the kernels of pairs below it agree on.
#pragma once
#include "tessera/molecular/nonbonded.h"

#include <cstdint>

namespace tessera::molecular {

/// Instructions of the pair kernels: the widest of the processor, or at most these. All give the
/// same bits.
enum class Simd : std::uint8_t { automatic, portable, avx2, avx512 };

struct ForceOptions {
  Precision precision = Precision::mixed;
  Simd simd = Simd::automatic;
  /// Pairs are listed out to the cut-off and this much, until the two fastest atoms have together
  /// moved as far. 0: a quarter of the cut-off.
  double buffer_nm = 0;
  /// Of the list that is pruned from it; 0: no such list; below 0: 0.065 cut-offs.
  double inner_buffer_nm = -1;
  /// Which of the terms: slow is Term::coulomb_reciprocal, whose excluded pairs take the motion
  /// within molecules out of it again; fast all others. Together they are all, for multiple time
  /// steps (dynamics.h: slow_every).
  enum class Part : std::uint8_t { all, fast, slow } part = Part::all;
};

}  // namespace tessera::molecular
