// SPDX-License-Identifier: Apache-2.0
//
// What an edge or face of the grid is made of where several media share its box.
//
// Lossless media: the averaged tensor of C. Kottke, A. Farjadpour and S. G. Johnson, Phys. Rev. E
// 77, 036611 (2008). Across a face with unit normal n the components D_n and E_t do not jump; with
//   S = <1/e_nn>,   V = <e n / e_nn>,   T = <e - e n (e n)^T / e_nn>,   e_nn = n . e n
// (means over the volume of the box) the tensor that gives the mean D of the mean E is
//   eps = T + V V^T / S;   of isotropic media eps^-1 = n n^T <1/e> + (1 - n n^T) / <e>.
// Where a box holds several faces, n n^T is their mean, each weighted by its area and by (e_1 -
// e_2)^2/(e_1 e_2). At faces along the grid the error of the scheme is then of second order in the
// cell; at others the off-diagonals at nodes leave one of first order, several times smaller than
// without them (docs/decisions/0073). corner_tensors.h is more accurate there.
//
// Media with poles or conductivity: the tensor's diagonal holds at every frequency, and is again a
// medium of poles (laminate.h), without the off-diagonals. For E along the faces it is the mean by
// shares of the volume,
//   eps = sum w eps,   sigma = sum w sigma,   P = sum w P(medium);
// an edge in a face between two media has half of each. Where E crosses faces by more than 1/128 of
// n_axis^2, shares and n_axis^2 are rounded to 1/64 (except at faces across the edge), so that few
// averages have to be found (docs/decisions/0098). Nonlinear media count by shares, and so do
// plasmas without losses among themselves.
#pragma once
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/yee_grid.h"

namespace tessera::electromagnetics {

enum class Averaging {
  kottke,   ///< as above
  corners,  ///< as above, with the tensors of corner_tensors.h at faces across the grid
  volume,   ///< by shares of the volume for all media
  none,     ///< the medium at the point itself
};

using SymmetricTensor = std::array<double, 6>;  ///< xx, yy, zz, xy, xz, yz

/// The inverse of the averaged tensor; `values` are those of the axes (as Medium::eps), one per
/// medium, positive. Smooth in the fractions and normals.
SymmetricTensor inverse_average(const Fill& fill, const std::vector<Point>& values);

struct MediumWeight {
  int medium;
  double weight;
};

/// The coefficients of one edge.
struct EdgeMaterial {
  double inverse_eps = 1;             ///< relative, of the component along the edge
  double sigma = 0;                   ///< S/m
  std::vector<MediumWeight> weights;  ///< media with poles or nonlinearity and their shares
  /// Where the edge crosses faces of media with poles or conductivity: the parts of its `laminate`,
  /// which has `sigma` and all poles. Else empty.
  std::vector<MediumWeight> parts;
  double across = 0;
  bool pec = false;  ///< E = 0; the rest is then unused
};

/// What of a box of the grid lies to both sides of the seam of a periodic axis is counted at both
/// ends of the domain. Other ends are mirrors: behind them boxes have the scene's image.
using Periodic = std::array<bool, 3>;

/// What fills the box of an edge or face: along each axis the cell, or half of both cells beside
/// the line.
Fill fill_of(const SceneOrder& scene, const YeeGrid& grid, const Edge& edge,
             const Periodic& periodic = {});

/// Of averages of media with losses or poles where faces run across the grid: in 64ths, so that few
/// of them have to be found, or as they are, so that they move with the faces.
enum class LaminateShares { rounded, exact };

/// An edge is a perfect conductor where nothing of it is open, or, of staircases, where its middle
/// lies in a closed one: inside, on its surface, or in a sheet without thickness, to 1e-6 of the
/// cell, unless a structure seen before covers it; in a seam at either end. Elsewhere conductors
/// take no part in the averages: these are over the open part of the box.
EdgeMaterial edge_material(const SceneOrder& scene, const std::vector<Medium>& media,
                           const YeeGrid& grid, const Edge& edge, Averaging averaging,
                           const Periodic& periodic = {}, const CutCellFractions& open = {},
                           LaminateShares laminates = LaminateShares::rounded);

/// The coefficients of one face: an H component. mu follows the rules of eps, without
/// off-diagonals.
struct FaceMaterial {
  double inverse_mu = 1;  ///< relative
  double sigma_m = 0;     ///< ohm/m
};
FaceMaterial face_material(const SceneOrder& scene, const std::vector<Medium>& media,
                           const YeeGrid& grid, const Edge& edge, Averaging averaging,
                           const Periodic& periodic = {});

/// xy, xz, yz of the inverse permittivity at the node (i, j, k), from the box of half a cell to all
/// sides. Zero where the box holds a conductor, or a medium with poles, conductivity or
/// nonlinearity.
std::array<double, 3> node_off_diagonals(const SceneOrder& scene, const std::vector<Medium>& media,
                                         const YeeGrid& grid, const std::array<int, 3>& node,
                                         const Periodic& periodic = {});

/// Off-diagonals x = {xy, xz, yz} of a node, reduced by one factor (none if 1 will do) until
/// diag(smallest_diagonal) + off-diagonals has no eigenvalue below 1e-3 in units of the diagonal.
///
/// Why: with E_x = xi_xx D_x + (1/4) sum over both nodes of the edge and both y edges of each node
/// of xi_xy(node) D_y, and so on (G. R. Werner and J. R. Cary, J. Comput. Phys. 226 (2007)
/// 1085-1101), the energy D . E is the sum over nodes, and over the eight corners at each of them,
/// of 1/8 of the form of the 3x3 matrix made of the diagonals of the corner's three edges and the
/// off-diagonals of the node. Where all of these are positive, so is the operator, which is
/// symmetric: leapfrog then is stable under a limit on the time step, and grows without limit where
/// one is not. `smallest_diagonal` is, for each axis, the smaller inverse permittivity of the two
/// edges of the node along it.
std::array<double, 3> clip_off_diagonals(const Point& smallest_diagonal,
                                         const std::array<double, 3>& x);

}  // namespace tessera::electromagnetics
