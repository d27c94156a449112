// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops/linalg.h"

// Eigenvalues of general matrices and the exponential, on stacks of square matrices [..., n, n].

namespace tessera {

/// A V = V diag(w) and W^H A = diag(w) W^H with complex w [..., n], V and W [..., n, n], by
/// LAPACK's geev. Eigenvalues rise by real, then by imaginary part. Columns of V have length 1 and
/// their largest component (the first, at ties) is real and positive; W^H V = 1. Derivatives are
/// those of exactly these values and need distinct eigenvalues; `degenerate` (linalg.h) says what
/// those of equal ones give, and a matrix without n eigenvectors has W infinite. M. Giles 2008,
/// "Collected matrix derivative results", 3.1.
struct Eig {
  Tensor values, vectors, left;
};
Eig eig(Arg a, Degenerate degenerate = Degenerate::nan);
/// The eigenvalues alone.
Tensor eigvals(Arg a);

/// e^A = (r(A / 2^s))^(2^s) with the diagonal Pade approximant r of degree 13 and |A / 2^s|_1
/// <= 5.37, s for each matrix of the stack (N. J. Higham 2005, SIAM J. Matrix Anal. Appl. 26,
/// 1179): 8 + s products and one solve. The squarings are a loop (loops.h), so that it may be
/// differentiated, batched and compiled.
Tensor expm(Arg a);

}  // namespace tessera
