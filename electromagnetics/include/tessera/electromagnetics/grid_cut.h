// SPDX-License-Identifier: Apache-2.0
//
// How a grid is cut into slabs for several ranks. Rows of edges along x stay whole, and with them
// the bits of every step; sums over the grid are sums of rows. So results do not depend on the cut.
#pragma once
#include "tessera/electromagnetics/yee_scheme.h"

#include <vector>

namespace tessera::electromagnetics {

/// Rank r holds lines and middles from begin[r] to begin[r + 1] - 1 of the axis.
struct GridCut {
  parallel::Communicator* ranks = nullptr;  ///< null: all is on one
  int axis = -1;                            ///< of the cut, and of a run's slices; -1: cut_axis
  std::vector<int> begin;
};

/// Of y and z the one with more cells, z where they have as many; -1 where both have one. It
/// belongs to the grid alone.
int cut_axis(const YeeGrid& grid);

/// Cells by the weights of the ranks, at least one each; without weights as even as it can be. No
/// cut where there is one rank, or fewer cells than ranks. Throws Error for weights that are not
/// positive, or not one a rank.
GridCut cut_grid(const YeeGrid& grid, parallel::Communicator& ranks,
                 const std::vector<double>& weights = {});

/// The slab of this rank; the whole grid where it is not cut.
Slab slab_of(const std::array<Faces, 3>& faces, const GridCut& cut);

/// [ranks] numbers of the edges that each rank holds, in their order; all at one rank where the
/// grid is not cut. One outside of the grid counts to the nearest rank, which refuses it.
std::vector<std::vector<std::int64_t>> edges_by_rank(const std::vector<Edge>& edges,
                                                     const GridCut& cut);

/// The planes of cells whose media a slab wants to know: its own and what lies beside it.
Planes planes_of(const YeeGrid& grid, const Slab& slab);

}  // namespace tessera::electromagnetics
