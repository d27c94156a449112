// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Reductions over rows that share a number: x [n, rest...] and ids [n] (i32 or i64, in any order, 0
// <= id < count)
// -> [count, rest...], y[s] over all rows i with ids[i] = s. Rows are met in their order, whatever
// the number of threads. An id outside throws. Integers keep their type; their sums and products
// wrap.

namespace tessera {

Tensor segment_sum(Arg x, Arg ids, Index count);  ///< 0 for segments without rows
/// Sum over number of rows; 0 for segments without rows.
Tensor segment_mean(Arg x, Arg ids, Index count);
/// Segments without rows: -infinity, or the smallest integer. At ties the derivative goes to the
/// first row.
Tensor segment_max(Arg x, Arg ids, Index count);
Tensor segment_min(Arg x, Arg ids, Index count);
/// 1 for segments without rows; derivatives are exact also where elements are 0. Makes about 2 log2
/// n arrays as large as x.
Tensor segment_prod(Arg x, Arg ids, Index count);

}  // namespace tessera
