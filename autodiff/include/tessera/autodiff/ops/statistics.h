// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// What is made of reductions so often that it should be made well once. Axes as in `sum`.

namespace tessera {

/// log sum exp(x), without overflow; -inf for rows of -inf and for empty ones.
Tensor logsumexp(Arg x, const Shape& axes, bool keep_dims = false);
Tensor logsumexp(Arg x);
/// exp(x) / sum exp(x).
Tensor softmax(Arg x, int axis = -1);
/// x - logsumexp(x).
Tensor log_softmax(Arg x, int axis = -1);
/// Mean of |x - mean|^2 with n - ddof in the denominator, by two passes; real also for complex x.
/// As in NumPy NaN, or infinite, for ddof elements and fewer.
Tensor variance(Arg x, const Shape& axes, int ddof = 0, bool keep_dims = false);
Tensor variance(Arg x);
Tensor standard_deviation(Arg x, const Shape& axes, int ddof = 0, bool keep_dims = false);
Tensor standard_deviation(Arg x);
/// x limited to low ... high; the derivative is 1 inside and 0 outside, 1/2 on the border, 0 where
/// low >= high, 1 at NaN, which stays.
Tensor clip(Arg x, Arg low, Arg high);

}  // namespace tessera
