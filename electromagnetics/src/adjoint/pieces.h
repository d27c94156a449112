// SPDX-License-Identifier: Apache-2.0
//
// Pieces of a grid that are looked at one after the other, so that nothing has the size of the
// grid.
#pragma once
#include "tessera/electromagnetics/grid_cut.h"
#include "tessera/parallel/communicator.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::adjoint {

/// Of so many cells at most, if they have 16 planes at least; the whole grid where it is as small.
/// Schemes of them are asked for what they know and take no steps.
inline std::vector<Slab> pieces_of(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                   std::int64_t most_cells, parallel::Communicator& alone) {
  const int axis = cut_axis(grid), planes = axis < 0 ? 1 : grid.cells(axis);
  const std::int64_t wanted = (grid.cell_count() + most_cells - 1) / most_cells,
                     n = std::min<std::int64_t>(wanted, planes / 16);
  if (n < 2) return {Slab{}};
  const bool joined = faces[static_cast<std::size_t>(axis)].low == Boundary::periodic;
  std::vector<Slab> all;
  for (std::int64_t q = 0; q < n; ++q) {
    const int begin = static_cast<int>(q * planes / n),
              end = static_cast<int>((q + 1) * planes / n);
    all.push_back({.axis = axis,
                   .begin = begin,
                   .end = end,
                   .below = begin > 0 || joined ? 0 : -1,
                   .above = end < planes || joined ? 0 : -1,
                   .ranks = &alone});
  }
  return all;
}

/// Whether a row lies in a piece: of the last one the closing line does, too.
inline bool holds(const YeeGrid& grid, const Slab& slab, int j, int k) {
  const int at = slab.axis == 1 ? j : k;
  return !slab.ranks || (at >= slab.begin && (at < slab.end || slab.end == grid.cells(slab.axis)));
}

}  // namespace tessera::electromagnetics::adjoint
