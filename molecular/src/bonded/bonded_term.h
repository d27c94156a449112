// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../energy/fixed.h"
#include "tessera/molecular/energy_function.h"
#include "tessera/molecular/system.h"

#include <memory>

namespace tessera::molecular {

/// Energies of lists of terms, which runs take piece by piece.
class BondedTerm : public EnergyFunction {
 public:
  virtual Term kind() const = 0;
  virtual std::size_t size() const = 0;
  /// Adds forces, energies and the virial of the terms [begin, end) with the parameters of the
  /// system.
  virtual void add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
                   Sums& sums) const = 0;
};
using BondedTermPtr = std::shared_ptr<const BondedTerm>;

/// Null where the system has no such terms.
BondedTermPtr bonded_term(const System& system, Term kind, double epsilon_r = 1);

/// How the energy of a kind is made of a system; a file of terms/ has one for each of its kinds.
using MakeBondedTerm = BondedTermPtr (*)(Term kind, const System& system, double epsilon_r);
struct RegisterBonded {
  RegisterBonded(Term kind, MakeBondedTerm make);
};

}  // namespace tessera::molecular
