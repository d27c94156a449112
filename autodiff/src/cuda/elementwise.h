// SPDX-License-Identifier: Apache-2.0
//
// Element-wise primitives on device memory, by name and element type.
#pragma once
#include "tessera/autodiff/dtype.h"

#include <cstdint>
#include <string_view>

namespace tessera::device {

/// out[i] = f(in[0][i], in[1][i], ...) for i in [0, n) on contiguous device arrays; `stream` is a
/// cudaStream_t. `parameter` is the power or order of pow_int and polygamma, the orders i + 1000 j
/// in x and y of pow_derivative, the Dtype that cast makes, and unused elsewhere.
using Elementwise = void (*)(std::int64_t n, const void* const* in, void* out, int parameter,
                             void* stream);

/// The launcher of a primitive whose operands have this type (for select: its choices); null where
/// the primitive is not defined for it.
Elementwise elementwise(std::string_view primitive, Dtype dtype);

}  // namespace tessera::device
