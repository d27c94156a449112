// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/shape.h"

namespace tessera::kernels {
/// Copies `in` to the contiguous `out` of the same type and shape, whatever the strides of `in`.
void copy(const View& in, const View& out);
/// The same into an output of any strides.
void copy_strided(const View& in, const View& out);
}  // namespace tessera::kernels
