// SPDX-License-Identifier: Apache-2.0
//
// Rims of metal that is thinner than a cell. Across a rim fields rise as 1/sqrt of the distance,
// which no difference over a cell sees: a strip that ends on lines acts 0.77 cells wider than it
// is. In the plane across it the field near the rim is that of a half plane,
//
//   phi + i psi = sqrt(zeta),   zeta = (s + i n),
//
// s from the rim outwards along the sheet, n across it: phi, zero on the metal, is the potential,
// and psi the flux. An edge across the rim between two nodes, of length l and dual width A*, takes
//
//   kappa = (d psi of the dual edge / d phi of the edge) l / A*
//
// times the capacitance that an even field would give it, and the face behind it, whose H pairs
// with that E in waves along the rim, 1/kappa of its inductance: waves along the rim keep their
// speed. Edges along the rim take the mean of phi over their dual face over phi at the edge. These
// go into the scheme in place of the open fractions, as 1/kappa. The field of a sheet that ends
// anywhere between lines is met so, and nothing jumps when the rim passes a line: the kappas of the
// edges that it leaves and reaches go to infinity there, together, which the time step does not
// feel. kappa fades to 1 between one and two cells
// from the rim, where even fields and this one agree to a hundredth; where rims are that near to
// each other their kappas multiply.
//
// Thin metal as a scheme sees it is told by its edges: metal along s up to a node, with the two
// edges across the sheet open there. Where a rim runs across the grid, the half plane is taken in
// both directions, each by the square of its normal's part.
#pragma once
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"

#include <functional>
#include <span>
#include <vector>

namespace tessera::electromagnetics::detail {

/// How far thin metal that was moved to a line reaches along an edge of that line, as a share of
/// it, from its low or from its high end.
struct Reach {
  Edge edge;
  bool from_low = true;
  double share = 0;
};

/// Gives edges and faces near rims their shares (CutCellFraction::share), and lists those that were
/// whole. Then all faces of cells with an edge whose share is above 1 are listed, as limit_areas
/// wants them. `within_metal` tells of edges that are not listed. Behind magnetic walls and faces
/// of `symmetry` are images.
void correct_rims(CutCellFractions& open, const YeeGrid& grid, const std::array<Faces, 3>& faces,
                  const SymmetryFaces& symmetry, std::span<const Reach> reaches,
                  const std::function<bool(const Edge&)>& within_metal);

}  // namespace tessera::electromagnetics::detail
