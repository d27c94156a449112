// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Reductions over windows that slide along the last axes (pooling). Along each of them
//
//   y[o] = reduction over j = 0 ... size-1 of x[o stride + j dilation - low],
//   o = 0 ... (n + low + high - 1 - (size-1) dilation) / stride,
//
// where positions outside of x do not take part. Axis by axis: the cost is the sum of the sizes,
// not their product; extremes of small windows are found in one pass.

namespace tessera {

/// One entry for each of the last size.size() axes before the trailing ones; empty ones mean stride
/// 1, no border, dilation 1.
struct Window {
  Shape size;
  Shape stride = {};
  Shape low = {}, high = {};  ///< border before and after, at most (size - 1) dilation
  Shape dilation = {};
  int trailing = 0;  ///< axes behind those of the windows, such as channels
};
Tensor window_sum(Arg x, const Window& w);   ///< integers keep their type and wrap
Tensor window_mean(Arg x, const Window& w);  ///< over the positions inside of x
/// The derivative goes to the first largest element in row-major order; NaN counts as largest.
Tensor window_max(Arg x, const Window& w);
Tensor window_min(Arg x, const Window& w);

}  // namespace tessera
