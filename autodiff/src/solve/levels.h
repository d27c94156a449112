// SPDX-License-Identifier: Apache-2.0
//
// Batches around one system: {size, operands, size, operands, ...}, the operands that have the axis
// as bits (1: the first).
#pragma once
#include "tessera/autodiff/shape.h"

#include <vector>

namespace tessera::detail {

/// Of the levels that batch these operands, outermost first.
inline Shape leading(const std::vector<Index>& levels, Index mask) {
  Shape s;
  for (std::size_t k = 0; k < levels.size(); k += 2)
    if (levels[k + 1] & mask) s.push_back(levels[k]);
  return s;
}
/// The type of an operand with them in front.
inline Type wide(const Type& t, const std::vector<Index>& levels, Index mask) {
  Shape s = leading(levels, mask);
  for (Index d : t.shape) s.push_back(d);
  return {t.dtype, s};
}

}  // namespace tessera::detail
