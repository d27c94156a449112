// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

namespace tessera::detail {

/// The operand as a tensor; of integers and booleans an error that asks for a cast.
Tensor to_inexact(const char* op, const Arg& a);

}  // namespace tessera::detail
