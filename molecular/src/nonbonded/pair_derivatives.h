// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/force_options.h"
#include "tessera/molecular/nonbonded.h"

#include <memory>

namespace tessera::molecular {

/// First and second derivatives of the sum over pairs within the cut-offs, in the operands of
/// nonbonded_energy: x, h, charges, c6, c12. Lists are kept for the positions of the last few
/// evaluations. Sums are the same bits on any number of threads. Mixed: pairs in float, an error of
/// about 1e-6 of the largest entry of each result.
class PairDerivatives {
 public:
  using Arrays = EnergyFunction::Arrays;
  using Results = EnergyFunction::Results;
  /// `simd`: one that the processor has.
  PairDerivatives(const System& system, const Nonbonded& options, Wells wells = Wells::all,
                  Precision precision = Precision::f64, Simd simd = Simd::automatic);
  ~PairDerivatives();

  double value(Arrays p) const;
  void gradient(Arrays p, Results g) const;
  double value_and_gradient(Arrays p, Results g) const;
  void hessian_product(Arrays p, Arrays v, Results w) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::molecular
