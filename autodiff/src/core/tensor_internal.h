// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

namespace tessera::detail {

TensorImpl* new_impl();
/// Uninitialised, contiguous.
Tensor empty_result(Dtype dtype, const Shape& shape);
/// A tensor that shares `base`'s memory as `view` says.
Tensor view_result(const Tensor& base, const View& view);
Tensor contiguous_copy(const View& v);
/// The literal as a tensor of one element; throws, naming `op`, where the type does not hold it.
Tensor literal(const char* op, const Literal& value, Dtype dtype, SourceLine line);
/// The concrete value behind a live traced tensor; throws, naming `op`, where there is none.
const Tensor& concrete(const char* op, const Tensor& t, SourceLine line);

}  // namespace tessera::detail
