// SPDX-License-Identifier: Apache-2.0
//
// The corners of the cells of a grid, and their edges. Corners count by bits: 1 the high side along
// x, 2 along y, 4 along z.
#pragma once
#include "geometry/cut_cell_limit.h"
#include "grid/nearer_line.h"

#include <set>

namespace tessera::electromagnetics::detail {

struct CellCorners {
  const YeeGrid& grid;
  const Periodic& periodic;
  const NearerLine& nearer;

  Cell wrapped(Cell node) const {
    for (std::size_t d = 0; d < 3; ++d)
      if (!grid.resolved(static_cast<int>(d)))
        node[d] = 0;
      else if (periodic[d])
        node[d] = (node[d] % grid.cells(static_cast<int>(d)) + grid.cells(static_cast<int>(d))) %
                  grid.cells(static_cast<int>(d));
    return node;
  }
  Cell corner(const Cell& cell, int bits) const {
    Cell node = cell;
    for (std::size_t d = 0; d < 3; ++d) node[d] += bits >> d & 1;
    return wrapped(node);
  }
  bool unresolved(int bits) const {
    for (int d = 0; d < 3; ++d)
      if ((bits >> d & 1) && !grid.resolved(d)) return true;
    return false;
  }

  /// Along axis d, in cell i, as a share of the cell.
  double share(int d, int i, double x) const {
    return (x - grid.lines[static_cast<std::size_t>(d)][static_cast<std::size_t>(i)]) /
           grid.length(d, i);
  }
  /// The corner of the cell whose eighth a point lies in.
  int nearest_corner(const Cell& cell, const Point& p) const {
    int bits = 0;
    for (int d = 0; d < 3; ++d)
      if (const auto u = static_cast<std::size_t>(d);
          grid.resolved(d) && share(d, cell[u], p[u]) > nearer.low_up_to(d, cell[u]))
        bits |= 1 << d;
    return bits;
  }
  /// The one that its middle goes to.
  int corner_of_ties(const Cell& cell) const {
    int bits = 0;
    for (int d = 0; d < 3; ++d)
      if (nearer.ties_go_high(d, cell[static_cast<std::size_t>(d)])) bits |= 1 << d;
    return bits;
  }
  Point place_of(const Cell& cell, int bits) const {
    Point p;
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      p[u] = grid.resolved(d) ? grid.lines[u][static_cast<std::size_t>(cell[u] + (bits >> d & 1))]
                              : grid.middle(d, 0);
    }
    return p;
  }

  Edge edge_between(const Cell& cell, int bits, int d) const {
    Cell at = cell;
    for (int u = 0; u < 3; ++u) at[static_cast<std::size_t>(u)] += u == d ? 0 : bits >> u & 1;
    return edge_at(d, at, grid, periodic);
  }
  /// Which corner of the cell a node is.
  int bits_of(const Cell& cell, const Cell& node, const Point& at) const {
    for (int bits = 0; bits < 8; ++bits)  // of two in a period of one cell the nearer one
      if (corner(cell, nearest_corner(cell, at) ^ bits) == node)
        return nearest_corner(cell, at) ^ bits;
    return -1;
  }

  /// The cell about a node that has it as that corner.
  void add_cell_behind(Cell cell, int bits, std::set<Cell>& to) const {
    for (std::size_t d = 0; d < 3; ++d) cell[d] -= bits >> d & 1;
    cell = wrapped(cell);
    for (int d = 0; d < 3; ++d)
      if (const int i = cell[static_cast<std::size_t>(d)]; i < 0 || i >= grid.cells(d)) return;
    to.insert(cell);
  }
};

}  // namespace tessera::electromagnetics::detail
