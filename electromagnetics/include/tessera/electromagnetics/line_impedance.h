// SPDX-License-Identifier: Apache-2.0
//
// Lines: guides with two conductors and more, their currents and their impedance.
//
// The plane of a mode cuts a conductor in nodes between which edges are metal. Over all of these
// the scheme's curl of h telescopes to the faces at the edges that end on the conductor:
//
//   I = sum over edges that leave it of +- h_t l / Z0,
//
// what runs along +n in it, to rounding. A mode's line then has
//
//   Z = int e x h dA / sum I^2
//
// of all conductors but those that the others return through (power and current, which for a TEM
// mode is voltage over current; unconjugated, as in R. B. Marks and D. F. Williams, J. Res. NIST
// 97 (1992) 533, for modes that decay as well). Others return through walls, all of them, be there
// one or, as about a strip between two plates, several; where walls alone carry currents, through
// the first one.
//
// Where mirrors of a symmetry cut the plane, conductors, currents and power are those of the whole:
// of a conductor that a magnetic mirror cuts the current is twice that in the grid, one that no
// mirror cuts has an image, and an electric mirror is no metal.
#pragma once
#include "tessera/electromagnetics/absorber.h"
#include "tessera/electromagnetics/grid_modes.h"

namespace tessera::electromagnetics {

/// A conductor of a plane by the edges that end on it.
struct GuideConductor {
  std::vector<std::size_t> edges;    ///< of GridModes::e
  std::vector<double> sign;          ///< of h there in the current along +n; 2, 4 where it is cut
  std::array<int, 2> low{}, high{};  ///< lines of u and v between which it lies
  /// How often it is there in the whole, less the one that others return through, over how often
  /// the plane is.
  double weight = 1;
  bool wall = false;  ///< a face of the domain or of the window
};
/// Of all conductors but one: that which the domain's or the window's walls are, else the one with
/// most nodes. By the lines where they begin. None in a plane without nodes: one dimension, or two
/// with E along the axis that is not resolved. Walls that the guide does not have, of a window
/// within the domain and behind layers (`absorbers`: those of conductivity), are no conductors: all
/// of them are one, through which others may return.
std::vector<GuideConductor> guide_conductors(const YeeModel& model, const ModePlane& plane,
                                             const GridModes& modes,
                                             const SymmetryFaces& symmetry = {},
                                             const std::array<AbsorbingFaces, 3>& absorbers = {});

/// A, or A/m in two dimensions, at the line, of the mode as it is normalised: to what is in the
/// grid.
std::vector<std::complex<double>> line_currents(const GridModes& modes, const GridMode& mode,
                                                const std::vector<GuideConductor>& conductors);

/// Ohm, or ohm m in two dimensions. Of a pair of alike conductors that of each against the plane
/// between them, in the even and in the odd mode, from a half of them, too. Of a mode without
/// currents along the conductors (below 1e-6 of what goes round in the plane) not a number: guides
/// of one conductor have no such impedance.
std::complex<double> line_impedance(const GridModes& modes, const GridMode& mode,
                                    const std::vector<GuideConductor>& conductors);

}  // namespace tessera::electromagnetics
