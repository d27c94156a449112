// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of the sum over pairs by kernels: lists and positions as in pair_kernels.h. With s =
// r^2, F the force of a pair and f = F/r as a function of s,
//
//   first    g = -f d to i (minus to j),   dU/dq_i = q_j C,   dU/dc12 = A,   dU/dc6 = -B,   U
//   second   along dd, dq, dc: ds = 2 d.dd,  df = f' ds + d(q_i q_j) f_C + dc12 f_A - dc6 f_B
//            dg = -(df d + f dd),   dU/dq_i: dq_j C - q_j f_C ds/2,   dU/dc12: -f_A ds/2,
//            dU/dc6: f_B ds/2
//
// Charges are those of atoms times sqrt(k_e/e_r), as in runs.
//
// dd = w_i - w_j + d E, where E = h^-1 dh and w_i = dx_i - x_i E (fractions move by w h^-1).
//
// In `float` kernels a pair is computed in float; w is int32, multiples of a power of two, so that
// differences of w are as exact as those of positions; sums of one atom are floats (some hundred
// terms), those of all pairs doubles, to which floats are added row by row.
#pragma once
#include "pair_kernels.h"

namespace tessera::molecular::pairs {

template <class T>
struct DerivativeInput {
  Input<T> in;      ///< c6 and c12 times 6 and 12
  bool every_well;  ///< tables of atoms without Lennard-Jones parameters too
  bool wants_energy, wants_box;
  std::int32_t common;  ///< the type that most atoms have: no table is looked up for it
  const T* is_common;   ///< of each atom: 1 or 0
  const std::uint8_t*
      rare;                ///< of each j-cluster: its atoms of other types whose tables are wanted
  const T* second_series;  ///< derivative of the force series by t
  // Directions; all there, zero where there is none.
  const typename Input<T>::Position* w[3];
  T strain[3][3];  ///< E
  bool strained;
  const T* dq;
  const T *dc6, *dc12;  ///< times 6 and 12
};

inline constexpr int table_lanes = 8;
/// What one thread adds up.
template <class T>
struct DerivativeSums {
  T* g[3];        ///< [slots] dU/dx or its derivative
  T* q;           ///< [slots] by the charge times sqrt(k_e/e_r)
  double* table;  ///< [types, types, lanes, 2]: B/6 and A/12 of the pairs, or their derivatives
  double box[9];  ///< sum d_a g_b
  double energy;
};
template <class T>
using DerivativeKernel = void (*)(const DerivativeInput<T>& in, const Row* begin, const Row* end,
                                  const Entry* entries, DerivativeSums<T>& sums);

enum class Operands : std::uint8_t { positions, all };  ///< all: charges and tables too
template <class T>
using DerivativeTable =
    std::array<std::array<std::array<std::array<DerivativeKernel<T>, 2>, 2>, 2>,
               4>;  ///< [Field][modified][second][Operands]; Field::ewald in float alone
struct DerivativeKernels {
  DerivativeTable<float> single;
  DerivativeTable<double> twice;
  template <class T>
  const DerivativeTable<T>& of() const {
    if constexpr (sizeof(T) == 4)
      return single;
    else
      return twice;
  }
};
/// Narrowest first; those that this processor has.
std::span<const DerivativeKernels* const> derivative_kernels();
const DerivativeKernels* avx512_derivatives();
const DerivativeKernels* avx2_derivatives();
const DerivativeKernels* portable_derivatives();

}  // namespace tessera::molecular::pairs
