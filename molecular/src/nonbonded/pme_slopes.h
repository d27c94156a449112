// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/energy_function.h"
#include "tessera/molecular/nonbonded.h"

#include <array>
#include <memory>

namespace tessera::molecular {

/// First and second derivatives of the reciprocal sum on a grid, in the operands of pme_energy: x, h, charges. Double precision; the same
/// bits on any number of threads.
class PmeSlopes {
 public:
  using Arrays = EnergyFunction::Arrays;
  using Results = EnergyFunction::Results;
  PmeSlopes(const System& system, const Nonbonded& options, const std::array<int, 3>& grid);
  ~PmeSlopes();

  double value(Arrays p) const;
  void gradient(Arrays p, Results g) const;
  void curvature(Arrays p, Arrays v, Results w) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::molecular
