// SPDX-License-Identifier: Apache-2.0
//
// Lines of an axis with smaller cells where they are needed. The cell wanted at x is that of a
// refined stretch, or what grows from the nearest one up to the ordinary cell,
//
//   wanted(x) = min(cell, d + ln(q) |x - stretch|).
//
// Ends of stretches lie on lines; between two of them lines are spaced evenly in the integral of
// 1/wanted: while it grows, cells are the geometric series d', d' q, d' q^2, ... A cell that is
// short because its two lines are near each other, or because a whole number of cells fits, is one
// from which neighbours grow, too.
#pragma once
#include <span>
#include <vector>

namespace tessera::electromagnetics {

/// A stretch of an axis with cells of `cell`, m.
struct RefinedStretch {
  double from = 0, to = 0;
  double cell = 0;
};

/// Rising lines from `low` to `high` with cells of `cell` at most and, without stretches, of equal
/// length. Neighbouring cells differ by a factor of `max_ratio` at most, to a thousandth. Throws
/// Error unless low < high, cells are longer than 0 and max_ratio >= 1.
std::vector<double> graded_lines(double low, double high, double cell,
                                 std::span<const RefinedStretch> stretches = {},
                                 double max_ratio = 1.3);

}  // namespace tessera::electromagnetics
