// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of the sum over pairs by kernels: lists and places as in pair_kernels.h, all in double precision. With s = r^2, F the
// force of a pair and f = F/r as a function of s,
//
//   first    g = -f d to i (minus to j),   dU/dq_i = k_e q_j C,   dU/dc12 = A,   dU/dc6 = -B,   U
//   second   along dd, dq, dc: ds = 2 d.dd,  df = f' ds + k_e d(q_i q_j) f_C + dc12 f_A - dc6 f_B
//            dg = -(df d + f dd),   dU/dq_i: k_e (dq_j C - q_j f_C ds/2),   dU/dc12: -f_A ds/2,   dU/dc6: f_B ds/2
//
// dd = w_i - w_j + d E, where E = h^-1 dh and w_i = dx_i - x_i E (fractions move by w h^-1).
#pragma once
#include "pair_kernels.h"

namespace tessera::molecular::pairs {

struct SlopeInput {
  Input<double> in;            ///< q_i with k_e; c6 and c12 times 6 and 12
  double ke;
  bool every_well;             ///< tables of atoms without Lennard-Jones parameters too
  const std::uint8_t* lj_lanes;  ///< of each j-cluster: its atoms whose tables are wanted
  const double* second_series; ///< derivative of the force series by t
  // Directions; all there, zero where there is none.
  const double* w[3];
  double strain[3][3];         ///< E
  bool strained;
  const double *dq_i, *dq_j;   ///< dq_i with k_e
  const double *dc6, *dc12;    ///< times 6 and 12
};

inline constexpr int table_lanes = 8;
/// What one thread adds up.
struct SlopeSums {
  double* g[3];   ///< [slots] dU/dx or its derivative
  double* q;      ///< [slots]
  double* table;  ///< [types, types, lanes, 2]: B/6 and A/12 of the pairs, or their derivatives
  double box[9];  ///< sum d_a g_b
  double energy;
};
using SlopeKernel = void (*)(const SlopeInput& in, const Row* begin, const Row* end, const Entry* entries, SlopeSums& sums);

enum class Slope : std::uint8_t { places, all };  ///< all: charges and tables too
struct SlopeKernels {
  std::array<std::array<std::array<std::array<SlopeKernel, 2>, 2>, 2>, 4> of;  ///< [Field][modified][second][Slope]; no Field::ewald
};
/// Narrowest first; those that this processor has.
std::span<const SlopeKernels* const> slope_kernels();
const SlopeKernels* avx512_slopes();
const SlopeKernels* avx2_slopes();
const SlopeKernels* portable_slopes();

}  // namespace tessera::molecular::pairs
