// SPDX-License-Identifier: Apache-2.0
//
// Primitives that rules and compilers look for.
#pragma once
#include "tessera/autodiff/primitive.h"

namespace tessera::detail {

/// Where x is the value y that was chosen among such: equal, or NaN.
Tensor is_value(const Tensor& x, const Tensor& y);
const Primitive& mul_primitive();
const Primitive& stop_gradient_primitive();
/// The primitive that gives the same bits as `p` (a sum, of type `t`) of a product, from the
/// factors; null if none is cheaper.
const Primitive* product_form(const Primitive& p, const Attributes* a, const Type& t);

}  // namespace tessera::detail
