// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <optional>

// Reductions over axes (all axes when none are named; negative axes count from the end). Sums and
// products follow a tree that depends on the shape alone, so that results are the same bits on any
// number of threads. Of no elements the sum is 0, the product 1, the mean NaN, `any` false and
// `all` true; extremes there are an error, as in NumPy. NaN counts as largest and as smallest. Sums
// and products of bool are i64; those of integers keep their type and wrap (u8 at 256).

namespace tessera {

Tensor sum(Arg x);
Tensor sum(Arg x, const Shape& axes, bool keep_dims = false);
/// sum(a * b, axes) to the same bits, without the product in memory where leading axes are summed.
/// Floats and complex.
Tensor sum_product(Arg a, Arg b, const Shape& axes);
Tensor mean(Arg x);
Tensor mean(Arg x, const Shape& axes, bool keep_dims = false);
Tensor prod(Arg x);
Tensor prod(Arg x, const Shape& axes, bool keep_dims = false);
Tensor max(Arg x);
Tensor max(Arg x, const Shape& axes,
           bool keep_dims = false);  ///< derivative to the first largest element
Tensor min(Arg x);
Tensor min(Arg x, const Shape& axes, bool keep_dims = false);
Tensor any(Arg x);
Tensor any(Arg x, const Shape& axes, bool keep_dims = false);
Tensor all(Arg x);
Tensor all(Arg x, const Shape& axes, bool keep_dims = false);
Tensor argmax(Arg x,
              int axis);  ///< i64 position of the first largest element; NaN counts as largest
Tensor argmin(Arg x, int axis);

}  // namespace tessera
