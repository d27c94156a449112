// SPDX-License-Identifier: Apache-2.0
//
// Lines of an axis from what is asked of them: places where a line lies, and stretches whose cells
// are short enough. With g = ln q, q the largest ratio of neighbouring cells, the cell allowed at x
// is
//
//   h(x) = min over stretches of cell + g (distance of x from the stretch):
//
// cells that fill h = h0 + g x grow by q each. Between two neighbouring places there are n cells,
// n the integral of 1/h rounded up; where it is rounded h is cut at the height at which the
// integral is n, so that cells near the places stay what they were. Neighbours that differ by more
// than q lower h at the line between them, until none do.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// A line has to lie at `at`.
struct LineDemand {
  double at = 0;
  /// Of two that are too near to each other the heavier one stays, at equal weight the lower one.
  int weight = 0;
  std::string owner = {};  ///< "patch"
};

/// Cells from `from` to `to` are no longer than `cell`, m.
struct CellDemand {
  double from = 0, to = 0;
  double cell = 0;
  std::string reason = {};  ///< "the gap between 'patch' and 'ground'"
};

/// A line at `at` with two cells of one length at both of its sides.
struct EvenDemand {
  double at = 0;
  std::string owner = {};
};

/// What is asked of the lines of an axis from `low` to `high`.
struct AxisDemands {
  double low = 0, high = 0;
  bool joined = false;      ///< the faces are: the last cell is the first one's neighbour
  double cell = 0;          ///< the longest anywhere,
  std::string reason = {};  ///< and why
  std::vector<LineDemand> lines = {};
  std::vector<CellDemand> cells = {};
  std::vector<EvenDemand> even = {};
};

struct LineRules {
  double ratio = 1.3;  ///< largest of neighbouring cells
  /// Lines nearer to each other than this are one, and cells are not shorter, even where that
  /// leaves them longer than asked for, or neighbours more apart than `ratio`.
  double least = 0;
  std::size_t most_cells = 10'000'000;
};

/// What made a cell as short as it is.
struct Culprit {
  std::string reason;              ///< of a stretch, or which lines are so near to each other
  std::optional<LineDemand> line;  ///< of two lines the one that could go
};

struct DemandedLines {
  std::vector<double> lines;  ///< rising, from low to high
  double ratio = 1;           ///< the largest of neighbouring cells
  std::size_t smallest = 0;   ///< number of the smallest cell
  Culprit culprit;            ///< of it
  /// Those that have no line of their own, as one that is nearer than `least` or a millionth of the
  /// longest cell has it.
  std::vector<LineDemand> dropped;
};

/// Throws Error unless low < high, cells are longer than 0 and the ratio is above 1, and where
/// there would be more than `most_cells`. The same demands make the same lines to the last bit,
/// whatever their order.
DemandedLines demanded_lines(const AxisDemands& demands, const LineRules& rules = {});

/// The demands without what made the smallest cell.
AxisDemands without(AxisDemands demands, const Culprit& culprit);

}  // namespace tessera::electromagnetics
