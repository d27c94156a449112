// SPDX-License-Identifier: Apache-2.0
//
// Perfect conductors whose surface runs across the grid: the conformal scheme of S. Dey and R.
// Mittra, IEEE Microw. Guided Wave Lett. 7 (1997) 273-275. Faraday's law holds on the open part of
// each face,
//   mu d(H A)/dt = - sum over the face's edges of +- E l,
// A and l being what of the face and of the edge is not metal, so that in the unknowns e = E l of
// the scheme (yee_scheme.h) curls stay as they are; the fraction of an edge enters the factor of
// its E, that of a face divides the factor of its H. Dual faces are taken whole. An edge without an
// open part is metal.
//
// Small faces would need short time steps. With M_h = ds*/A of the faces, M_e = A*/l of the edges,
// leapfrog is stable for (c dt)^2 L < 4 eps mu, L the largest eigenvalue of M_e^-1 C^T M_h C. Both
// energies are sums over cells, a face's of both of its cells and an edge's of all four, so
//   L <= largest over cells of the largest eigenvalue of their own 12 edges and 6 faces,
// with equality on an even grid without metal (12/h^2). Faces of a cell that is above the limit are
// enlarged to the smallest fraction that brings it below: no eigenvalue of the whole then exceeds
// what the time step was chosen for, whatever the geometry. Enlarged areas push the wall outwards
// by a small part of the cell. A smaller time step enlarges less (docs/decisions/0096).
//
// Metal that is thinner than a cell, or a sheet without thickness, with open space on both of its
// sides in one face, would leak. Along the grid it is put on the nearest line; where it is wider
// than half the cell or oblique, the face is closed with its edges. A rod between the edges of the
// grid is put on the nearest nodes, which a chain of edges joins. A staircase has no other way to
// see such metal: it takes the edges that are closed so, besides those whose middle lies in metal.
//
// Where a sheet or other thin metal ends, the field rises as 1/sqrt of the distance. The edges and
// faces about its rim take shares that are exact for that field, wherever between two lines the rim
// lies (docs/decisions/0202).
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/thin_wire.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::electromagnetics {

class SceneOrder;
struct Medium;

/// The fraction of an edge's length (E) or of a face's area (H) that is not metal.
struct CutCellFraction {
  Edge edge;
  double fraction;  ///< 0: closed
  /// What stands for it in the scheme's factors: of faces enlarged for the time step, and near the
  /// rims of thin metal as the field there asks for, above 1 as well.
  double share = fraction;
};

/// What became of a structure's metal that is thinner than a cell.
struct ThinMetal {
  static constexpr std::size_t background = ~std::size_t{0};
  std::size_t structure = background;  ///< its number in the scene
  std::int64_t moved = 0;              ///< places in which it was put on a line of the grid,
  double shift_m = 0;                  ///< and how far its middle moved at most
  std::int64_t closed = 0;             ///< faces that are taken as metal
  bool unseen = false;   ///< no edge runs through it, and it is too short to be put on one,
  bool by_area = false;  ///< but it takes of the area of a face
};

/// How conductors are taken.
struct CutCellChoices {
  bool conformal = true;  ///< false: of a staircase, the edges of thin metal alone
  /// Thin wires (thin_wire.h) come on top of either; edges that are `taken` by lumped elements stay
  /// open, and carry the wire's current.
  std::span<const ThinWire> wires{};
  std::span<const Edge> taken{};
  /// By component: `thin_metal` tells of what these see alone, in two dimensions of one
  /// polarization.
  std::array<bool, 6> stepped{true, true, true, true, true, true};
  /// What lies amid a cell goes to the line away from these, or from the middle of the domain.
  SymmetryFaces symmetry{};
};

/// The cut-cell fractions of a grid.
struct CutCellFractions {
  bool conformal = false;  ///< false: conductors are staircases, an edge is metal where its middle
                           ///< is; listed are the edges of thin metal
  /// Those below 1 or with shares other than 1, without what lies within metal away from its
  /// surface; rising in (component, k, j, i). Of a periodic axis the last line is the first.
  std::vector<CutCellFraction> fractions{};
  std::int64_t cut_faces = 0;           ///< faces with a fraction between 0 and 1
  double least_area = 1;                ///< the smallest of them in the geometry,
  double least_kept = 1;                ///< and as enlarged
  std::int64_t enlarged = 0;            ///< faces that were
  std::int64_t thin = 0;                ///< faces with metal in them that is thinner than the cell
  std::vector<ThinMetal> thin_metal{};  ///< whose that is, by number

  double fraction(const Edge& edge) const;  ///< 1 where it is not listed
  double share(const Edge& edge) const;     ///< likewise
  /// Of what is listed; null otherwise.
  const CutCellFraction* listed(const Edge& edge) const;
  /// c dt ds/A* of an electric edge is that of a whole one times this: 1 of an edge that is metal.
  double gain(const Edge& edge) const { return fraction(edge) > 0 ? share(edge) : 1; }
  /// What E of an electric edge is the mean over: its fraction, or all of an edge that is metal.
  double length_fraction(const Edge& edge) const { return fraction(edge) > 0 ? fraction(edge) : 1; }
  /// The fractions of one row along x.
  std::span<const CutCellFraction> row(int component, int j, int k) const;
};

/// Fractions that the conductors of a scene leave, for steps of `dt_s`. Lengths are exact to
/// rounding where a face crosses a quarter of an edge once; areas are those of chords over a
/// quarter of the cell, and over less where the surface bends within it: of corners to 1e-4. In the
/// seam of joined faces metal is what is metal at either of them, and
/// what covers metal up to a face of these goes on behind it. On an axis that is not resolved the
/// scene is what it is in the middle. Throws WireFault.
CutCellFractions cut_cell_fractions(const SceneOrder& scene, const std::vector<Medium>& media,
                                    const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                    double dt_s, const CutCellChoices& choices = {});

/// The largest curl-curl eigenvalue (1/m^2) that is stable with `dt_s` in all media but perfect
/// conductors, less a thousandth; at least curl_curl_bound(grid).
double largest_curl_curl(const std::vector<Medium>& media, const YeeGrid& grid, double dt_s);

}  // namespace tessera::electromagnetics
