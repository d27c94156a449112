// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Tridiagonal matrices by their bands [..., 3, n]:
//   A[i, i-1] = bands[0, i],   A[i, i] = bands[1, i],   A[i, i+1] = bands[2, i];
// bands[0, 0] and bands[2, n-1] are not read. Vectors are [..., n], or several of them as columns
// [..., n, k]; leading axes are those of the bands.

namespace tessera {

Tensor tridiagonal_product(Arg bands, Arg x);
/// x of A x = b by elimination with row exchanges (LAPACK's gtsv): 10 n operations and 3 n for each
/// column. A singular matrix throws.
Tensor tridiagonal_solve(Arg bands, Arg b);

}  // namespace tessera
