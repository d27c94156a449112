// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Reading and writing at positions that are data. Indices are i32 or i64 and count from 0; one
// outside of its axis throws, naming the index and the range. Repeated targets are met in row-major
// order of the indices, whatever the number of threads.

namespace tessera {

/// x [B..., n, rest...], indices [B..., K...] with `batch_dims` axes B -> [B..., K..., rest...]:
/// y[b, k, r] = x[b, indices[b, k], r].
Tensor gather(Arg x, Arg indices, int batch_dims = 0);
/// x [B..., n, rest...] with updates [B..., K..., rest...] added at indices [B..., K...]; transpose
/// of `gather`.
Tensor scatter_add(Arg x, Arg indices, Arg updates, int batch_dims = 0);
/// The same with updates replacing x; of several for one position the last counts.
Tensor scatter_set(Arg x, Arg indices, Arg updates, int batch_dims = 0);
/// The larger of x and its updates; at ties the derivative goes to x, then to the first update.
Tensor scatter_max(Arg x, Arg indices, Arg updates, int batch_dims = 0);
Tensor scatter_min(Arg x, Arg indices, Arg updates, int batch_dims = 0);

/// x [A..., n, C...], indices [K...] -> [A..., K..., C...].
Tensor take(Arg x, Arg indices, int axis = 0);
/// Along one axis, each row by its own indices: y[..., k, ...] = x[..., indices[..., k, ...], ...].
/// The other axes of x and indices are equal.
Tensor take_along_axis(Arg x, Arg indices, int axis);
/// indices [K...] -> [K..., n]: 1 at the index, 0 elsewhere; a row of zeros for an index outside of
/// 0 ... n-1.
Tensor one_hot(Arg indices, Index n, Dtype dtype = Dtype::f64);
/// Positions of the elements that are not zero, i64 [count, ndim], in row-major order. The shape is
/// data: it throws where values are not known (vmap, jit).
Tensor nonzero(Arg x);
/// The block of x with these sizes that begins at `starts` (integers [ndim]). It must lie inside of
/// x.
Tensor dynamic_slice(Arg x, Arg starts, const Shape& sizes);
/// x with the block that begins at `starts` replaced by `update`.
Tensor dynamic_update(Arg x, Arg update, Arg starts);
/// For rising sorted [B..., n] and values [B..., m] the position i64 [B..., m] before which each
/// value would be inserted: left of equal elements, or right of them. NaN sorts last.
Tensor searchsorted(Arg sorted, Arg values, bool right = false);

}  // namespace tessera
