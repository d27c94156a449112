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
/// Where the reciprocal sum of `ewald` ends, 1/nm.
double ewald_kmax(const Nonbonded& options);

/// Estimates of what a sum leaves out: root mean squares, over the charges, of the error of a
/// force, for charges that are anywhere (Kolafa and Perram, doi 10.1080/08927029208049126), in
/// units of k_e/e_r <q^2>/(0.1 nm)^2, the force between two of them as near as a bond.
struct EwaldErrors {
  double pairs = 0;  ///< beyond the cut-off
  double waves = 0;  ///< of `ewald`: beyond ewald_kmax
  double mesh = 0;   ///< of `pme`: by the interpolation on its grid
};
/// All 0 where there are no charges. Of a periodic box, and options that check() passes.
EwaldErrors ewald_errors(const System& system, const Nonbonded& options, const Box& box);
/// Likewise what the grid of `pme` adds to the pressure, bar: the energy of each charge with itself
/// and those excluded from it depends on the spacing, and so on the volume. Right to a factor of 3
/// of water, whose molecules it takes to be anywhere.
double mesh_pressure_bar(const System& system, const Nonbonded& options, const Frame& frame);

}  // namespace tessera::molecular
