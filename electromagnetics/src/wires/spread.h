// SPDX-License-Identifier: Apache-2.0
//
// How currents and charges of wires lie on the grid. In cells, with B_m the centred spline of order
// m, an edge along x at (i + 1/2, j, k) has of a segment
//
//   w = int B1(x - i - 1/2) B2(y - j) B2(z - k) dx,
//
// and a node (i, j, k) of a charge B2 B2 B2: then div w is the difference of the charges of the
// segment's ends.
#pragma once
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <vector>

namespace tessera::electromagnetics::wires {

struct EdgeShare {
  std::array<int, 4> at;  ///< component, i, j, k
  double weight;
};
struct NodeShare {
  std::array<int, 3> at;
  double weight;
};
constexpr int half_width = 2;  ///< lines that a spread reaches to each side of the cell of a point

/// Points in cells from line 0 on.
std::vector<EdgeShare> current_shares(const std::array<double, 3>& from,
                                      const std::array<double, 3>& to);
std::vector<NodeShare> charge_shares(const std::array<double, 3>& at);

}  // namespace tessera::electromagnetics::wires
