// SPDX-License-Identifier: Apache-2.0
//
// A sparse factorisation A = L D L^T, A = A^T, of our own: real or complex, without pivots, by
// dense fronts on the tree of the elimination (multifrontal: I. Duff, J. Reid 1983,
// doi:10.1145/356044.356047), in an order by nested dissections.
//
//   const auto at = [&](Tensor v) {
//     return linear_solve(LinearOperator::csr(v, pattern), b, {.solver = solvers::ldlt()}).x;
//   };
//   Tensor x = vmap(at)(values);  // [systems, entries]: factored side by side
//
// For matrices whose real and imaginary parts are both definite, as K + i w M of waves and fields
// in the frequency domain, and for definite real ones: these need no pivots, and what is eliminated
// does not grow (N. Higham 1998, doi:10.1090/S0025-5718-98-00978-8). Other symmetric matrices may
// do as well, or not. The factorisation measures its growth, sum_j |l_ij|^2 |d_j| / |a_ii|, by
// which rounding errors are multiplied. Where it is above 32, the residual of every column is
// looked at and refined by the same factors, and a solution that does not fulfil |b - A x| <= 1024
// eps (|A| |x| + |b|) is reported as `stagnated`.
//
// What depends on the pattern alone is worked out once and kept for the last eight patterns. One
// factor serves values, tangents and adjoints of every order. Systems of a batch are solved side by
// side, and so are parts of one large system; bits depend neither on the threads nor on the width
// of vectors, nor on the other columns or systems.
#pragma once
#include "tessera/autodiff/solve.h"

namespace tessera::solvers {

/// For csr and dense matrices in f32, f64, c64 and c128, all of it in that precision. Throws Error
/// where a_ij and a_ji differ by more than rounding, where rows lie on ranks, and for functions.
/// Reports `singular`, and x = NaN, where a pivot is zero, which without exchanges of rows may
/// happen to a matrix that has an inverse (mumps_symmetric() takes those); `not_finite` where
/// numbers are not.
LinearSolverPtr ldlt();

}  // namespace tessera::solvers
