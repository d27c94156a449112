// SPDX-License-Identifier: Apache-2.0
// Turns and mirrorings of a grid, by which ports and the device are compared with others.
#pragma once
#include "electromagnetics/waves/port_options.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstddef>
#include <optional>

namespace tessera::apps::waves {

/// A turn or mirroring of the grid: r goes to sign r along other axes, moved by `shift`. Of joined
/// faces what comes out at one goes in at the other.
struct GridTurn {
  std::array<std::size_t, 3> axis{0, 1, 2};
  std::array<double, 3> sign{1, 1, 1};
  Point shift{};
  Point low{}, period{};  ///< of axes whose faces are joined; of others the period is 0

  /// Of a vector.
  Point turned(const Point& v) const;
  Point of(const Point& r) const;
  Point back(const Point& r) const;
  /// How many axes it changes.
  int changes() const;
  /// The difference of two places along an axis, by the shorter way.
  double apart(std::size_t along, double a, double b) const;
  /// The line (or middle) of axis[from] that is nearest to where it takes one; -1 outside.
  int place_of(const electromagnetics::YeeGrid& grid, std::size_t from, bool middle, int at) const;
  /// The edge or face nearest to where it takes this one; nothing outside of the grid.
  std::optional<electromagnetics::Edge> of(const electromagnetics::YeeGrid& grid,
                                           const electromagnetics::Edge& e) const;
  /// What it takes a component to.
  int component_of(int component) const;

 private:
  double inside(std::size_t along, double at) const;
};

/// The number of the line (or middle) of an axis that is nearest to a place; -1 more than half a
/// cell outside of it. The last line of a joined axis is the first.
int nearest_place(const electromagnetics::YeeGrid& grid, int axis, bool middle, double at,
                  bool joined);
/// Half the smallest cell.
double half_smallest_cell(const electromagnetics::YeeGrid& grid);

}  // namespace tessera::apps::waves
