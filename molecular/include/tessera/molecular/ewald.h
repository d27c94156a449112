// SPDX-License-Identifier: Apache-2.0
//
// What the Ewald sum (tin foil around) adds to erfc(beta r)/r between pairs within the cut-off:
//
//   U = 2 pi k_e/(e_r V) sum_{k != 0} exp(-k^2/4 beta^2)/k^2 |sum_i q_i exp(i k.x_i)|^2
//     - k_e/e_r beta/sqrt(pi) sum_i q_i^2
//     - pi k_e/(2 e_r V beta^2) (sum_i q_i)^2
//     - k_e/e_r sum over excluded pairs of q_i q_j erf(beta r)/r
//
// line by line the reciprocal sum, self energies, a uniform background of a net charge, excluded
// pairs; summed directly: cost n k, the reference of PME.
#pragma once
#include "tessera/molecular/energy_function.h"
#include "tessera/molecular/nonbonded.h"

namespace tessera::molecular {

/// The reciprocal sum over |k| < ewald_kmax. Operands x [n, 3], h [3, 3], charges [n].
EnergyPtr ewald_reciprocal_energy(const System& system, const Nonbonded& options);
/// The terms of excluded pairs. Operands x, h, charges. Null where nothing is excluded.
EnergyPtr ewald_excluded_energy(const System& system, const Nonbonded& options);
/// Self and background, of h [3, 3] and charges [n].
Tensor ewald_self_energy(const System& system, const Nonbonded& options, const Tensor& h,
                         const Tensor& charge);

}  // namespace tessera::molecular
