// SPDX-License-Identifier: Apache-2.0
//
// Which of several bodies has a node of the grid that is near to all of them: the nearest one, and
// neither of two that are as near, so that it does not count which comes first, and of two mirror
// images both give way.
#pragma once
#include "geometry/cut_cell_limit.h"

#include <optional>
#include <span>
#include <vector>

namespace tessera::electromagnetics::detail {

struct NodeClaim {
  std::size_t body;
  std::vector<Cell> nodes;  ///< the one that it would have first, first
  std::vector<double> far;  ///< from each of them
};

/// Which of its nodes each claim gets; distances that differ by less than `hair` are equal. Nothing
/// where others are nearer to all of them. Claims of one body do not get in each other's way.
std::vector<std::optional<std::size_t>> settle(std::span<const NodeClaim> claims, double hair);

}  // namespace tessera::electromagnetics::detail
