// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

namespace tessera {

/// Matrix product of [..., m, k] and [..., k, n]; leading axes broadcast; vectors [k] are rows or columns as
/// in NumPy. Bitwise the same on any number of threads.
Tensor matmul(Arg a, Arg b);
/// Sum of products of two vectors (no conjugation).
Tensor dot(Arg a, Arg b);

}  // namespace tessera
