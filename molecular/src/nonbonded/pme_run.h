// SPDX-License-Identifier: Apache-2.0
//
// The reciprocal sum of pme.h as runs need it, in single or double precision: same grid, same
// waves, forces rounded once into the sums of fixed.h. Charges are spread as whole numbers and
// every line is transformed by itself, so that no order of atoms and no number of threads changes a
// bit.
#pragma once
#include "../energy/fixed.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/system.h"

#include <memory>

namespace tessera::molecular {

class Domain;

class PmeRun {
 public:
  virtual ~PmeRun() = default;
  /// Forces on atoms at x [n], which `add_forces` adds; with `energies` adds the energy and the
  /// virial to `sums`. Runs on all threads; one caller at a time. Throws Error where charges beyond
  /// the range of whole numbers fall on one grid point (single precision).
  virtual void add(const Vec3* x, const Box& box, bool energies, Sums& sums) = 0;
  /// Adds the forces found on atoms [begin, end) to `force` [end - begin, 3], in units of the sums
  /// that `add` was given.
  virtual void add_forces(std::size_t begin, std::size_t end, std::int64_t* force) const = 0;
};

/// `single`: grid and transforms in single precision, otherwise all in double. `domain`: what this
/// rank has of the atoms; it outlives the run, and x and forces are those of its own. Then the
/// first rank adds energies for all. Throws Error for an order that is not 4 to 8.
std::unique_ptr<PmeRun> pme_run(const System& system, const Nonbonded& options, bool single,
                                const Domain* domain = nullptr);

}  // namespace tessera::molecular
