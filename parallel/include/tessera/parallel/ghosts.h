// SPDX-License-Identifier: Apache-2.0
//
// Boxes of a grid with ghosts: copies of the points around a box that other ranks own. A plan like
// any other (exchange_plan.h), whose index sets are those of boxes; points count row-major.
//
//   const Ghosts g = ghosts(c, {.grid = {nx, ny}, .begin = {x0, 0}, .end = {x1, ny},
//                               .low = {1, 1}, .high = {1, 1}, .periodic = {false, true}});
//   const Tensor wide = with_ghosts(g, u);     // u [x1 - x0, ny, ...]
//
// Ghosts may be wider than what a neighbour owns, or than the whole grid where it is periodic; they
// include those around edges and corners. A component that is staggered is a grid of its own, with
// the points that it has and boxes that are shifted like its points.
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/parallel/exchange_plan.h"

namespace tessera::parallel {

/// What this rank owns of a grid, and how many ghosts it wants; a number for each axis. The boxes
/// of all ranks cover the grid once; any cuts, a box may be empty.
struct GridBox {
  std::vector<Index> grid;        ///< points of the whole grid; the same on all ranks
  std::vector<Index> begin, end;  ///< points begin ... end - 1 are this rank's
  std::vector<Index> low, high;   ///< ghosts below and above
  /// Ghosts go round; where they do not, there are none beyond the ends of the grid.
  std::vector<bool> periodic;
};
struct Ghosts {
  ExchangePlanPtr plan;
  Shape owned, copies;        ///< of the box, without and with ghosts
  std::vector<Index> origin;  ///< the grid's point that the first copy is of, before it goes round
};

/// Made by all ranks. Throws Error for numbers that do not fit each other, and where boxes overlap
/// or leave out a point that is wanted.
Ghosts ghosts(Communicator& c, const GridBox& mine, SourceLine line = SourceLine::here());

/// x [owned..., ...] -> [copies..., ...]: push.
Tensor with_ghosts(const Ghosts& g, Arg x);
/// y [copies..., ...] -> [owned..., ...]: pull_add, the transpose.
Tensor add_ghosts(const Ghosts& g, Arg y);

}  // namespace tessera::parallel
