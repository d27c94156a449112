// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

namespace tessera::detail {

/// The operand as a tensor; of integers and booleans an error that asks for a cast.
Tensor to_inexact(const char* op, const Arg& a);
/// The operand of a sum or a product as a tensor; bool, which holds no sums, as i64.
Tensor to_summands(const char* op, const Arg& a);
/// The type in which a mean adds up so many terms of type t one after the other: from 2^24 ones on
/// f32 stays what it is.
Dtype type_of_running_sum(Dtype t, Index terms);

}  // namespace tessera::detail
