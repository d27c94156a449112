// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/case.h"

namespace tessera::apps::waves {

std::vector<double> axis_lines(const GridOptions& grid, int axis, double cell) {
  const AxisOptions& a = grid.axis(axis);
  if (!a.lines.empty()) return a.lines;
  const double low = grid.low(axis), high = grid.high(axis);
  if (!(high > low))
    return {grid.centre[static_cast<std::size_t>(axis)] - cell / 2,
            grid.centre[static_cast<std::size_t>(axis)] + cell / 2};
  return electromagnetics::graded_lines(low, high, cell, a.refine, grid.max_ratio);
}

}  // namespace tessera::apps::waves
