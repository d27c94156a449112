// SPDX-License-Identifier: Apache-2.0
//
// Sheets thinner than a cell on a plane across an axis: of a surface resistance, or films of a
// medium, lossy and dispersive ones too.
//
// A film of thickness t and permittivity e(s) in a medium h(s) fills the share t/d* of the boxes of
// the edges along it, and t/d of those across it, so that
//
//   along the sheet    eps = (1 - t/d*) h + (t/d*) e          E does not jump: currents add
//   across it        1/eps = (1 - t/d)/h + (t/d)/e            D does not jump: voltages add
//
// with d* the length that the line stands for and d that of the cell. Both are media of poles
// again, the second by `laminate`, and so passive where both media are, under the time step of the
// two. A resistance R of a square is a current E/R along the sheet: a conductivity of 1/(R d*).
//
// On a line of the grid all of that is at that line. Between two lines a sheet is shared between
// them by its distances, w = 1 - x/d: current and moment are then right, its impedance is not. Two
// admittances Y w and Y (1 - w), a cell apart, act as one of Y + i k d w (1 - w) Y^2 (in units of
// the wave's), an error of first order; so a line of the grid belongs on a sheet (docs/decisions/
// 0206). Of an edge of which an outline covers a share the sheet counts by it.
//
// J. G. Maloney and G. S. Smith, IEEE Trans. Antennas Propag. 40 (1992) 323, split the component
// across the sheet in two instead.
#pragma once
#include "tessera/electromagnetics/added_media.h"
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/medium.h"

#include <optional>
#include <vector>

namespace tessera::electromagnetics {

struct Sheet {
  int axis = 2;                               ///< its normal
  double position = 0;                        ///< of its middle along the normal, m
  std::optional<double> resistance_ohm = {};  ///< of a square of it; else it is a film
  double thickness_m = 0;
  Medium medium = {};
  /// What of the plane it covers: a solid without ends along the normal. Nothing: all of it.
  std::optional<Shape> outline = {};
};

/// Where along its normal a sheet lies: between line and line + 1, `above` of the distance between
/// them from the first; on a line, to 1e-9 of the cell, `above` is 0.
struct SheetPlace {
  int line = 0;
  double above = 0;
};
/// Throws Error outside of the grid.
SheetPlace sheet_place(const YeeGrid& grid, int axis, double position);

/// What they make of the edges of a grid, of a scene and its media as yee_model takes them. On a
/// mirror of a symmetry a sheet is half inside; on a wall all of it is, and a film begins there.
/// Throws Error where an axis is not resolved, where films fill more than an edge's box, and for
/// films of nonlinear or magnetic media, of conductors, or across which a nonlinear medium lies.
AddedMedia sheet_edges(const std::vector<Sheet>& sheets, const YeeGrid& grid,
                       const std::array<Faces, 3>& faces, const SceneOrder& scene,
                       const std::vector<Medium>& media, Averaging averaging,
                       const CutCellFractions& open = {}, const SymmetryFaces& symmetry = {});

}  // namespace tessera::electromagnetics
