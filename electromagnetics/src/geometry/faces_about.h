// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstddef>

namespace tessera::electromagnetics::detail {

/// Calls `take` with each face of the four cells about an edge.
template <class Take>
void take_faces_about(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Edge& e,
                      const Take& take) {
  const int c = axis_of(e.component), u = (c + 1) % 3, v = (c + 2) % 3;
  // Into the grid; false where it has no such place.
  const auto inside = [&](int d, int& i, bool cell) {
    const int n = grid.cells(d);
    if (!grid.resolved(d)) {
      i = 0;
      return true;
    }
    if (faces[static_cast<std::size_t>(d)].low == Boundary::periodic) {
      i = ((i % n) + n) % n;
      return true;
    }
    return i >= 0 && i <= (cell ? n - 1 : n);
  };
  for (const int du : {-1, 0})
    for (const int dv : {-1, 0})
      for (int d = 0; d < 3; ++d)
        for (const int side : {0, 1}) {
          std::array<int, 3> at{e.i, e.j, e.k};
          at[static_cast<std::size_t>(u)] += du, at[static_cast<std::size_t>(v)] += dv;
          at[static_cast<std::size_t>(d)] += side;
          bool there = true;
          for (int q = 0; q < 3; ++q)
            there = inside(q, at[static_cast<std::size_t>(q)], at_middle(3 + d, q)) && there;
          if (there) take(Edge{static_cast<std::uint8_t>(3 + d), at[0], at[1], at[2]});
        }
}

}  // namespace tessera::electromagnetics::detail
