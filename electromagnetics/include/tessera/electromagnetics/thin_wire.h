// SPDX-License-Identifier: Apache-2.0
//
// Round wires of perfect conductor that are thinner than a cell, on lines of the grid.
//
// Near a wire of radius a the potential goes as ln(r/a), which no difference over a cell sees: an
// edge of metal alone acts as a wire of radius
//
//   r0 = e^{-gamma} sqrt(dx^2 + dy^2) / 4,   gamma = 0.5772...
//
// (D. W. Peaceman, SPE J. 23 (1983) 531, for wells in reservoirs: the same sums), 0.1985 of a
// square cell. The difference is a drop of potential of ln(r0/a) / (2 pi eps) per charge and length
// in each of the edges that leave the wire. In an edge along x of length l, through which the flux
// of the unit of charge is atan(dy/dx) / pi, that is 1/C times
//
//   share = 1 + (dy/l) ln(r0/a) / (2 atan(dy/dx)),
//
// and L times the same in the face that pairs with it, so that waves along the wire keep the speed
// of light. Both are exact for a long wire on an even grid, and stand among the open fractions
// (CutCellFraction::share); nothing is added to the time step.
//
// At an end the charge of a node covers its own length of wire alone, half a cell where the end is
// a node, up to three halves just before the next one. There the drop is such that a straight wire
// has the capacitance that the method of moments gives it (docs/decisions/0204), so that an end
// counts by its place, wherever between two nodes it is. Bends and junctions are nodes of two and
// more arms.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// A line of straight pieces along the axes, on lines of the grid, in m. Its ends may lie between
/// two lines across it; where the last point is the first, as far as `same_on_wire` tells, it is
/// closed.
struct ThinWire {
  std::vector<Point> points;
  double radius_m = 0;
};

/// Coordinates of a wire that differ by no more than this share of a cell are the same.
inline constexpr double same_on_wire = 1e-6;
inline bool same_along(const YeeGrid& grid, int axis, const Point& a, const Point& b) {
  const auto u = static_cast<std::size_t>(axis);
  return std::abs(a[u] - b[u]) <= same_on_wire * grid.smallest_length(axis);
}
inline bool is_closed(const ThinWire& wire, const YeeGrid& grid) {
  const Point &a = wire.points.front(), &b = wire.points.back();
  return same_along(grid, 0, a, b) && same_along(grid, 1, a, b) && same_along(grid, 2, a, b);
}
/// The largest radius, as a share of the cells next to the wire.
inline constexpr double thickest_wire = 0.3;

/// What is wrong with a wire.
struct WireFault : Error {
  WireFault(std::size_t of, bool radius, const std::string& message)
      : Error(message), wire(of), of_radius(radius) {}
  std::size_t wire;  ///< its number
  bool of_radius;    ///< not of its points
};

}  // namespace tessera::electromagnetics
