// SPDX-License-Identifier: Apache-2.0
//
// Smooth particle-mesh Ewald (Essmann et al., J. Chem. Phys. 103 (1995) 8577): the reciprocal sum
// of ewald.h on a grid of K_1 x K_2 x K_3 points. With fractions s_i = x_i h^-1, u = K s, cardinal
// B-splines M of order p:
//
//   Q(g) = sum_i q_i prod_a M(u_ia - g_a)
//   U    = 2 pi k_e/(e_r V) sum_{k != 0} exp(-k^2/4 beta^2)/k^2 B(k) |FFT(Q)|^2
//   B(k) = prod_a |sum_j M(j + 1) e^{2 pi i n_a j/K_a}|^-2
//
// over all waves that the grid tells from their opposites: n_a = K_a/2, where splines of order p
// see as little as noise and a slanted box has no one k^2, is left out.
//
// M is p - 2 times continuously differentiable: order 5 and up for second derivatives without
// kinks.
#pragma once
#include "tessera/molecular/energy_function.h"
#include "tessera/molecular/nonbonded.h"

#include <array>

namespace tessera::molecular {

/// The numbers of grid points: those of `options`, or by the spacing as GROMACS chooses them. Where
/// options have none, every box has its own; dynamics of a stage keep those of its beginning.
/// Throws Error where they are more than are made, or fewer than the splines' order.
std::array<int, 3> pme_grid(const Nonbonded& options, const Box& box);

/// The reciprocal sum on a grid. Operands x [n, 3], h [3, 3], charges [n].
EnergyPtr pme_energy(const System& system, const Nonbonded& options, const std::array<int, 3>& grid,
                     Precision precision = Precision::f64);

}  // namespace tessera::molecular
