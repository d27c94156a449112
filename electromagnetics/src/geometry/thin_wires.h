// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"

#include <functional>
#include <span>

namespace tessera::electromagnetics::detail {

/// Makes edges metal where wires are, but for those that are `taken` by lumped elements, through
/// which the current goes on as in the wire; gives the edges and faces about them their shares, and
/// lists all faces of cells with such an edge, as limit_areas wants them. Throws WireFault for a
/// wire that is off the lines of the grid, leaves the domain, is too thick, or runs through
/// `within_metal`.
void add_thin_wires(CutCellFractions& open, const YeeGrid& grid, const std::array<Faces, 3>& faces,
                    std::span<const ThinWire> wires, std::span<const Edge> taken,
                    const std::function<bool(const Edge&)>& within_metal);

}  // namespace tessera::electromagnetics::detail
