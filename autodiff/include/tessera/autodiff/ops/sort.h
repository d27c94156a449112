// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <utility>

// Order along one axis, of real, integer or bool elements. Equal elements keep their order and NaN
// comes last, rising or falling. Derivatives follow the elements to where they went.

namespace tessera {

/// i64 positions that sort x.
Tensor argsort(Arg x, int axis = -1, bool descending = false);
Tensor sort(Arg x, int axis = -1, bool descending = false);
/// The k largest elements along an axis, falling, and their positions.
std::pair<Tensor, Tensor> top_k(Arg x, Index k, int axis = -1);

}  // namespace tessera
