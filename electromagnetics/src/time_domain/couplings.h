// SPDX-License-Identifier: Apache-2.0
//
// Which edges the tensor of a node couples, and how strongly.
#pragma once
#include "tessera/electromagnetics/yee_scheme.h"

#include <array>

namespace tessera::electromagnetics::time_domain {

/// An edge of a node, which may lie outside of the grid. One in front of the first node of a joined
/// axis is its copy at the other end times e^{i phase}.
struct Neighbour {
  Edge edge;
  double phase;
};

/// Calls couple(x, y, W) for each pair of edges around the node:
///   W = c dt xi / (4 D),   D: dual length of the third axis;   e_x += W u_y and e_y += W u_x.
template <class F>
void couplings_of(const YeeGrid& grid, const std::array<bool, 3>& periodic,
                  const std::array<double, 3>& phases, double c_dt, const NodeTensor& node,
                  F&& couple) {
  // By the third axis, which leaves the pair xy, xz or yz; shift 1 is the edge before the node.
  const auto xi = [&](int third, int sa, int sb) {
    const double mean[3] = {node.yz, node.xz, node.xy};
    const int first = third == 1 ? 1 - sb : 1 - sa,
              second = third == 1 ? 1 - sa : 1 - sb;  // y leaves (z, x)
    return mean[third] + node.pairs[2 - third][first + 2 * second];
  };
  const int at[3] = {node.i, node.j, node.k};
  for (int third = 0; third < 3; ++third) {
    const int a = (third + 1) % 3, b = (third + 2) % 3;
    const double dual =
        grid.dual_length(third, at[third], periodic[third] || !grid.resolved(third));
    const auto around = [&](int axis, int shift) {
      int i[3] = {at[0], at[1], at[2]};
      i[axis] -= shift;
      const bool wraps = i[axis] < 0 && (periodic[axis] || !grid.resolved(axis));
      if (wraps) i[axis] += grid.cells(axis);
      return Neighbour{{static_cast<std::uint8_t>(axis), i[0], i[1], i[2]},
                       wraps ? phases[axis] : 0};
    };
    for (const int sa : {0, 1})
      for (const int sb : {0, 1})
        couple(around(a, sa), around(b, sb), c_dt * xi(third, sa, sb) / (4 * dual));
  }
}

}  // namespace tessera::electromagnetics::time_domain
