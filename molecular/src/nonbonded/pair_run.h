// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/force_options.h"
#include "tessera/molecular/system.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace tessera::molecular {

class Domain;

/// The sum over pairs within the cut-offs as runs take it: cluster lists that live through many
/// steps, vector kernels, sums of integers.
class PairRun {
 public:
  /// `domain`: what this rank has of the atoms; it outlives the run. Null: it has all.
  PairRun(const System& system, const Nonbonded& options, const ForceOptions& run,
          const Domain* domain = nullptr);
  ~PairRun();

  struct Energy {
    double lj = 0, coulomb = 0;
    std::array<double, 6> virial{};  ///< xx xy xz yy yz zz
  };
  /// Adds forces to `f` [n] and, if it is not null, energies and virial to `energy`; false where a
  /// force is beyond 2e9 kJ/mol/nm or not a number. With a domain x are the positions that it has,
  /// `f` the forces on own atoms; energies are those of all ranks.
  bool add(const std::vector<Vec3>& x, const Box& box, std::vector<Vec3>& f, Energy* energy);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::molecular
