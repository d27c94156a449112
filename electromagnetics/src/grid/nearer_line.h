// SPDX-License-Identifier: Apache-2.0
//
// Which line of the grid stands for something that lies within a cell: the nearer one, and, in the
// middle of the cell, the one away from the middle of the domain, but not the last one, where the
// domain ends. So a symmetric case is placed symmetrically, a half of it as the whole is (the
// middle of that is the mirror), and what is a cell apart across the middle does not meet there.
// What lies amid the middle cell goes to its low line.
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>

namespace tessera::electromagnetics::detail {

class NearerLine {
 public:
  /// Mirrors are faces of a `symmetry`, and magnetic walls.
  NearerLine(const YeeGrid& grid, const std::array<Faces, 3>& faces, const SymmetryFaces& symmetry);
  bool ties_go_high(int axis, int cell) const;
  /// What lies up to this share of the cell goes to its low line.
  double low_up_to(int axis, int cell) const {
    return ties_go_high(axis, cell) ? 0.5 - hair : 0.5 + hair;
  }
  int line(int axis, double at) const;

 private:
  static constexpr double hair = 1e-6;  // of a cell
  const YeeGrid& grid_;
  std::array<int, 3> mirror_;  // at the low (-1) or the high (1) end
};

}  // namespace tessera::electromagnetics::detail
