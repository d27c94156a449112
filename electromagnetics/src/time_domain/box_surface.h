// SPDX-License-Identifier: Apache-2.0
//
// The surface between total and scattered fields: which edges reach across it.
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// The box in lines of the grid. `open`: the whole axis, nothing lies outside. A box may end at a
/// mirror, where nothing lies outside either, or reach beyond the domain.
struct Box {
  std::array<int, 3> low{}, high{};
  std::array<bool, 3> open{};
};

/// What an edge on one side of the surface needs of one on the other.
struct Term {
  std::int64_t column;  ///< of the injection
  Edge edge;            ///< where the incident field is taken
  double factor;        ///< of the unknown's field E or Z0 H, with the sign by which it drives the
                        ///< column's edge
};

/// The edges that need something from the other side, x fastest, and what.
struct Surface {
  std::vector<Edge> edges;
  std::vector<Term> terms;  ///< in the order of their columns
};
Surface surface_of(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Box& box);

int nearest_line(const std::vector<double>& lines, double at);
/// Lagrange's weights of the points -2 ... 3 at 0 <= x < 1.
std::array<double, 6> lagrange(double x);

}  // namespace tessera::electromagnetics::time_domain
