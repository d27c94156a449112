// SPDX-License-Identifier: Apache-2.0
//
// Blocks of operands as one stretch of memory each (blocks.h).
#pragma once
#include "tessera/autodiff/kernel.h"

namespace tessera::blocks {

/// The elements of v, of which there are some, one after the other.
void side_by_side(const View& v, void* to);

/// to[k] = v[k / row], of `rows` rows; v is one number for each, or one for all.
void spread(const View& v, Index rows, Index row, void* to);

}  // namespace tessera::blocks
