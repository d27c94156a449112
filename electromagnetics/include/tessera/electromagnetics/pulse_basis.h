// SPDX-License-Identifier: Apache-2.0
//
// Real signals of n steps with prescribed values at K frequencies, for the sources of an adjoint
// simulation: any spectrum a_k is then given by sum_k Re a_k p_k + Im a_k p_{K+k}, where
//
//   sum_n p_j[n] e^{-i w_k n dt} = delta_jk,     sum_n p_{K+j}[n] e^{-i w_k n dt} = i delta_jk.
//
// Of all such signals p is the shortest in the norm sum_n p[n]^2 / g[n] with the window g[n] =
// sin^4(pi (n + 1/2) / n_steps): p = g F^T (F g F^T)^{-1}, rows of F being cos(w_k n dt) and
// -sin(w_k n dt). It begins and ends smoothly (its spectrum falls by 30 dB an octave outside of the
// frequencies) and lives in the middle of the steps.
#pragma once
#include "tessera/autodiff/tensor.h"

#include <span>

namespace tessera::electromagnetics {

struct PulseBasis {
  Tensor signals;        ///< [2 K, n_steps] f64: for the real parts, then for the imaginary ones
  double condition = 0;  ///< of F g F^T: 1 for frequencies many times 1/(n_steps dt) apart
};
/// With `without_mean` every signal also sums to zero: as a current it leaves no charge behind.
/// Frequencies lie between 0 and 1/(2 dt), both excluded, in any order. Throws Error where the
/// condition exceeds 1e10, naming the two nearest frequencies and how many steps would tell them
/// apart; the sums above then hold to 1e-9 at least.
PulseBasis pulse_basis(std::span<const double> frequencies_hz, double dt_s, int n_steps,
                       bool without_mean = false);

}  // namespace tessera::electromagnetics
