// SPDX-License-Identifier: Apache-2.0
//
// Voltage and current of a line of two conductors through a plane across it, by the sums of the
// scheme itself: V = sum of E ds between the conductors, I = sum of h around one of them, half a
// cell before and behind the plane, of which the mean is taken; between unequal cells the value in
// the plane of what changes evenly from one to the other. What carries that current is found: the
// nodes of the plane that edges of metal join to the end of the path. Joined faces have no phase.
#pragma once
#include "tessera/electromagnetics/lumped_element.h"

#include <functional>
#include <vector>

namespace tessera::electromagnetics {

struct LineReading {
  std::vector<Edge> edges;  ///< e, then h, without repetitions
  /// [edges] V in V, the integral of E along the path, and I in A, in the conductor where it begins
  /// along the axis of the line: sums of these times unknowns. Of the whole, where mirrors halve
  /// it.
  std::vector<double> voltage, current;
};
/// The path is a box as an element has it (its circuit does not count), the mean over its columns;
/// the line runs along `axis` through its middle there. Throws Error where a path ends on no
/// conductor, or where both conductors are joined to outer ones.
LineReading line_reading(const LumpedElement& path, int axis, const YeeGrid& grid,
                         const std::array<Faces, 3>& faces, const CutCellFractions& open,
                         const std::function<bool(const Edge&)>& conductor,
                         const SymmetryFaces& symmetry = {});

}  // namespace tessera::electromagnetics
