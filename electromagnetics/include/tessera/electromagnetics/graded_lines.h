// SPDX-License-Identifier: Apache-2.0
//
// Lines of an axis with smaller cells where they are needed. The cell wanted at x is that of a
// refined stretch, or what grows from the nearest one by `ratio` a cell up to the ordinary cell. A
// geometric series of lengths d, d q, d q^2, ... reaches s after d (q^n - 1)/(q - 1): its length
// there is d + (q - 1) s, so that
//
//   wanted(x) = min(cell, d + (q - 1) |x - stretch|).
//
// Ends of stretches lie on lines; between two of them lines are spaced evenly in the integral of
// 1/wanted.
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
/// length. Neighbouring cells differ by a factor of about `max_ratio`. Throws Error unless low <
/// high, cells are longer than 0 and max_ratio >= 1.
std::vector<double> graded_lines(double low, double high, double cell,
                                 std::span<const RefinedStretch> stretches = {},
                                 double max_ratio = 1.3);

}  // namespace tessera::electromagnetics
