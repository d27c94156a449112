// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/box.h"

#include <cstddef>

namespace tessera::molecular {

/// The box of nine numbers, row by row.
inline Box box_of(const double* h) {
  Box b;
  for (std::size_t k = 0; k < 9; ++k) b.edge[k / 3][k % 3] = h[k];
  return b;
}

}  // namespace tessera::molecular
