// SPDX-License-Identifier: Apache-2.0
#include "grid/nearer_line.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {

NearerLine::NearerLine(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                       const SymmetryFaces& symmetry)
    : grid_(grid) {
  for (std::size_t d = 0; d < 3; ++d) {
    mirror_[d] = int{symmetry[d][1]} - int{symmetry[d][0]};
    if (mirror_[d] == 0)
      mirror_[d] = int{faces[d].high == Boundary::pmc} - int{faces[d].low == Boundary::pmc};
  }
}

bool NearerLine::ties_go_high(int axis, int cell) const {
  const int mirror = mirror_[static_cast<std::size_t>(axis)];
  const bool first = cell == 0 && mirror != -1, last = cell == grid_.cells(axis) - 1 && mirror != 1;
  if (first != last) return first;
  if (mirror != 0) return mirror < 0;
  const std::vector<double>& lines = grid_.lines[static_cast<std::size_t>(axis)];
  return grid_.middle(axis, cell) >
         (lines.front() + lines.back()) / 2 + hair * grid_.length(axis, cell);
}

int NearerLine::line(int axis, double at) const {
  const std::vector<double>& lines = grid_.lines[static_cast<std::size_t>(axis)];
  const int above =
                static_cast<int>(std::upper_bound(lines.begin(), lines.end(), at) - lines.begin()),
            cell = std::clamp(above - 1, 0, grid_.cells(axis) - 1);
  const double share = (at - lines[static_cast<std::size_t>(cell)]) / grid_.length(axis, cell);
  return cell + (share > low_up_to(axis, cell));
}

}  // namespace tessera::electromagnetics::detail
