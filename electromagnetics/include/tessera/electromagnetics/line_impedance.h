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
// (power and current, which for a TEM mode is voltage over current; unconjugated, as in R. B. Marks
// and D. F. Williams, J. Res. NIST 97 (1992) 533, for modes that decay as well). Metal parts the
// plane in spaces that know nothing of each other, as the inside of a tube and what is about it;
// in each of them the sum goes over all conductors but those that the others return through:
//
//   walls of metal, all of them, be there one or, as about a strip between two plates, several;
//   where there are none, the largest body and those of its size (extent along u and v, to a
//   fifth): a tube about its core, a plate below strips, the outer two of a coplanar line;
//   where those alone carry currents, once what runs one way in all: two plates, twin lines;
//   where the bodies' currents in all are more than half of the largest one, walls that the guide
//   does not have, and all bodies count: a wire in the open.
//
// Where mirrors of a symmetry cut the plane, conductors, currents and power are those of the whole:
// of a conductor that a magnetic mirror cuts the current is twice that in the grid, one that no
// mirror cuts has an image, and an electric mirror is no metal.
#pragma once
#include "tessera/electromagnetics/absorber.h"
#include "tessera/electromagnetics/grid_modes.h"

namespace tessera::electromagnetics {

/// A conductor of a plane, as far as it bounds one of its spaces, by the edges that end on it.
struct GuideConductor {
  std::vector<std::size_t> edges;    ///< of GridModes::e
  std::vector<double> sign;          ///< of h there in the current along +n; 2, 4 where it is cut
  std::array<int, 2> low{}, high{};  ///< lines of u and v between which it lies
  int space = 0;
  /// How often it is there in the whole space, and over how often that is the one in the grid.
  double copies = 1, weight = 1;
  double net = 1;        ///< the current of all of these over its own
  bool returns = false;  ///< one of those that the others of its space return through
  bool open = false;     ///< there are walls there that the guide does not have, and none of metal
};
/// By the lines where they begin; without what others return through where it is one conductor and
/// can do nothing else. None in a plane without nodes: one dimension, or two with E along the axis
/// that is not resolved. Walls that the guide does not have, of a window within the domain and
/// behind layers (`absorbers`: those of conductivity), are no conductors: all of them are one,
/// through which others may return.
std::vector<GuideConductor> guide_conductors(const YeeModel& model, const ModePlane& plane,
                                             const GridModes& modes,
                                             const SymmetryFaces& symmetry = {},
                                             const std::array<AbsorbingFaces, 3>& absorbers = {});

/// A, or A/m in two dimensions, at the line, of the mode as it is normalised: to what is in the
/// grid.
std::vector<std::complex<double>> line_currents(const GridModes& modes, const GridMode& mode,
                                                const std::vector<GuideConductor>& conductors);

/// Ohm, or ohm m in two dimensions. Of a pair above a plate or between walls that of each against
/// these, in the even and in the odd mode, from a half of them, too; of a pair alone in its odd
/// mode that of one against the other. Of a mode without currents along the conductors (below 1e-6
/// of what goes round in the plane) not a number: guides of one conductor have no such impedance.
std::complex<double> line_impedance(const GridModes& modes, const GridMode& mode,
                                    const std::vector<GuideConductor>& conductors);

}  // namespace tessera::electromagnetics
