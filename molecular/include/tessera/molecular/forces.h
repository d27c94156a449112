// SPDX-License-Identifier: Apache-2.0
//
// Forces as runs need them: all terms of a system at once, in sums whose bits do not depend on order or threads.
#pragma once
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"
#include "tessera/molecular/terms.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tessera::molecular {

struct Forces {
  std::vector<Vec3> f;             ///< kJ/mol/nm
  bool wants_energies = true;      ///< asked by the caller: without, energies and virial need not be computed and are zero
  TermEnergies energy{};           ///< kJ/mol
  std::array<Vec3, 3> virial{};    ///< W_ab = sum r_a f_b [kJ/mol], r = x_i - x_j, f on i: pressure tensor P = (2 K + W)/V
  double potential() const;        ///< sum of `energy`
};

/// Instructions of the pair kernels: the widest of the processor, or at most these. All give the same bits.
enum class Simd : std::uint8_t { automatic, portable, avx2, avx512 };

struct ForceOptions {
  Precision precision = Precision::mixed;
  Simd simd = Simd::automatic;
  /// Pairs are listed out to the cut-off and this much, until the two fastest atoms have together moved as far. 0: a quarter of the
  /// cut-off.
  double buffer_nm = 0;
  /// Of the list that is pruned from it; 0: no such list; below 0: 0.065 cut-offs.
  double inner_buffer_nm = -1;
  /// Which of the terms: slow is Term::coulomb_reciprocal, whose excluded pairs take the motion within molecules out of it again; fast
  /// all others. Together they are all, for multiple time steps (dynamics.h: slow_every).
  enum class Part : std::uint8_t { all, fast, slow } part = Part::all;
};

/// Anything that gives forces: a ForceEvaluator, or a function of the user's.
using ForceFunction = std::function<void(const std::vector<Vec3>& x, const Box& box, Forces& out)>;

/// All terms of a system; copies share what was prepared, lists of pairs included, and take turns. Forces on virtual sites stay there
/// (virtual_sites.h spreads them).
class ForceEvaluator {
 public:
  ForceEvaluator(const System& system, const Nonbonded& options, const ForceOptions& run = {});

  /// Throws Error naming the atoms where a force is not a number or beyond 2e9 kJ/mol/nm.
  void operator()(const std::vector<Vec3>& x, const Box& box, Forces& out) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tessera::molecular
