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
const Primitive& slice_primitive();
/// The primitive that gives the same bits as `p` (a sum, of type `t`) of a product, from the
/// factors; null if none is cheaper.
const Primitive* product_form(const Primitive& p, const Attributes* a, const Type& t);

/// A cotangent of a slice that was taken of an array with these attributes.
struct OfSlice {
  Tensor cotangent;
  AttributesPtr slice;
  SourceLine line;
};
/// The cotangent of the array, of type `whole`: all of them, each where its slice was, zeros
/// elsewhere, summed where slices overlap. What lies side by side along one axis is written into
/// one array.
Tensor sum_of_slices(const Type& whole, std::span<const OfSlice> parts);

}  // namespace tessera::detail
