// SPDX-License-Identifier: Apache-2.0
//
// Forces as runs need them: all terms of a system at once, in sums whose bits do not depend on
// order or threads.
#pragma once
#include "tessera/molecular/force_options.h"
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
  std::vector<Vec3> f;           ///< kJ/mol/nm
  bool wants_energies = true;    ///< asked by the caller: without, energies and virial need not be
                                 ///< computed and are zero
  TermEnergies energy{};         ///< kJ/mol
  std::array<Vec3, 3> virial{};  ///< W_ab = sum r_a f_b [kJ/mol], r = x_i - x_j, f on i: pressure
                                 ///< tensor P = (2 K + W)/V
  double potential() const;      ///< sum of `energy`
};

class Domain;

/// Anything that gives forces: a ForceEvaluator, or a function of the user's.
using ForceFunction = std::function<void(const std::vector<Vec3>& x, const Box& box, Forces& out)>;

/// All terms of a system; copies share what was prepared, lists of pairs included, and take turns.
/// Forces on virtual sites stay there (virtual_sites.h spreads them).
class ForceEvaluator {
 public:
  ForceEvaluator(const System& system, const Nonbonded& options, const ForceOptions& run = {});
  /// Of the atoms that a rank has (divided_dynamics.h).
  ForceEvaluator(const System& system, const Nonbonded& options, const ForceOptions& run,
                 std::shared_ptr<Domain> domain);

  /// Throws Error naming the atoms where a force is not a number or beyond 2e9 kJ/mol/nm.
  void operator()(const std::vector<Vec3>& x, const Box& box, Forces& out) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tessera::molecular
