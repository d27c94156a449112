// SPDX-License-Identifier: Apache-2.0
//
// The modes of a waveguide as a Yee model carries them: of its own edge coefficients (uneven lines,
// open parts of cut cells, losses, poles, absorbing layers at the sides), step in time and cells,
// so that a mode that is launched goes on as it is. With n the axis of the guide, u and v the next
// two, cells of length D along n, z = e^{i w dt} and all fields ~ e^{i w t - i beta n}, Maxwell's
// equations of the scheme (yee_scheme.h) are linear in
//
//   s = e^{-i beta D/2} - e^{i beta D/2} = -2 i sin(beta D/2)
//
//   s e_u = d_u e_n - Z_v h_v           s h_v = d'_v h_n - Y_u e_u
//   s e_v = d_v e_n + Z_u h_u           s h_u = d'_u h_n + Y_v e_v
//   Y_n e_n = d'_u h_v - d'_v h_u       Z_n h_n = d_v e_u - d_u e_v
//
// where h_u, h_v and e_n, half a cell further on, are written without their factor e^{-i beta D/2};
// d and d' are differences to the next and from the last edge, stretched where absorbing layers
// are; and of an edge that the step moves by (1/eps)^-1 (e' - e) + q (e' + e) + (P' - P) = G u
//
//   Y = z^{-1/2} [ (z - 1)/inverse + q (z + 1) + (z - 1) sum weight P/e(z) ] / G,  Z likewise.
//
// Of edges that tensors of faces along the guide couple, Y is the inverse of the matrix by which
// steps take brackets to e. So s^2 e_t = A B e_t of the edges across n alone, a sparse eigenproblem
// without spurious modes: dense where it is small, else by SLEPc about the slowest wave that the
// plane's media carry. The unconjugated products e_m x h_n of different modes vanish.
#pragma once
#include "tessera/electromagnetics/yee_scheme.h"

#include <array>
#include <complex>
#include <vector>

namespace tessera::electromagnetics {

/// Edges across `axis` at a line of the grid, and the faces and edges half a cell further on.
struct ModePlane {
  int axis = 2, line = 0;
  /// The lines of u and v between which modes are sought, with walls of metal there; -1: the ends
  /// of the domain, and what is there.
  std::array<int, 2> low{-1, -1}, high{-1, -1};
};

/// How often the plane is there in the whole: twice for each mirror of a symmetry that cuts it.
double images_of(const YeeGrid& grid, const ModePlane& plane, const SymmetryFaces& symmetry);

struct ModeOptions {
  double frequency_hz = 0;
  int count = 1;
  /// Modes are sought about this effective index; 0: above that of the densest medium in the plane.
  /// Where Re eps is below zero modes may be slower than that: give it.
  double index = 0;
  /// Looks for others of the speed of the last mode, too (GridModes::alike): of all of one speed
  /// those that are returned are the first, whatever the solver's rounding makes of them.
  bool whole_groups = false;
};

/// e in V/m, h = Z0 H in V/m, times lengths over the reference length: the unknowns of the scheme.
/// The sum of e x h, with the mean of h half a cell before and behind the line, h cos(beta D/2),
/// has modulus 2 Z0 / l^2 W. Of a mode that travels and does not decay that is a power of 1 W along
/// +n, or 1 W/m in two dimensions; with losses the unconjugated product is what reciprocity of the
/// grid is made of: S between guides of any losses is symmetric up to phases. The largest e is real
/// and positive; of several as large within a thousandth, as lobes of odd modes are, the first one:
/// modes of two planes of one guide have one sign.
struct GridMode {
  /// 1/m. Of modes that travel (|Im| < |Re|) power runs along +n, where it is more than a tenth of
  /// |e x h|; rounding, or layers at the sides, may leave Im above zero. Others decay along +n.
  std::complex<double> beta;
  std::complex<double> index;           ///< beta c / w
  double residual = 0;                  ///< |A B e - s^2 e| / |s^2 e|
  std::vector<std::complex<double>> e;  ///< [GridModes::e]
  std::vector<std::complex<double>> h;  ///< [GridModes::h]
  std::vector<std::complex<double>> e_n, h_n;
};
/// Where these are: e and h_n at the line, h and e_n half a cell further on, there without
/// e^{-i beta D/2}.
struct GridModes {
  std::vector<Edge> e;   ///< e_u, e_v; then those of metal where h is not zero
  std::vector<Edge> h;   ///< h_v, h_u: at the place across n of `e` of the same number
  std::size_t open = 0;  ///< so many of `e` come before those of metal
  std::vector<Edge> e_n, h_n;
  std::vector<double> e_scale, h_scale;  ///< e per E, h per Z0 H, of `e` and `h`
  double cell = 0;                       ///< D, m
  double reference = 0;                  ///< l, m
  double depth = 1;                      ///< lengths of axes across n that are not resolved, m
  /// Those that travel come first, slowest first; then those that decay, slowest decay first.
  std::vector<GridMode> modes;
  int alike = 0;  ///< more that have the speed of the last one
};

/// Of the whole model's plane. The cells at both sides of the line must be of one length and lie
/// outside of layers along n; the guide should not change within two cells of it. Throws Error
/// where they are not, for tensors that couple fields across the guide to those along it, nonlinear
/// media in the plane, joined faces with a phase, and for a plane of more than 800 unknowns where
/// SLEPc is missing.
GridModes grid_modes(const YeeModel& model, const ModePlane& plane, const ModeOptions& options);

/// How many cells, at most `most`, the guide goes on as it is at the plane, to the side of rising
/// coordinates (`step` 1) or of falling ones (-1): media and what metal leaves open are the same
/// between the plane's walls, in absorbing layers of conductivity they are not.
int even_cells(const YeeModel& model, const ModePlane& plane, int step, int most);

/// sum of e x h along +n, unconjugated, of two fields on the modes' edges.
std::complex<double> mode_product(const GridModes& modes,
                                  const std::vector<std::complex<double>>& e,
                                  const std::vector<std::complex<double>>& h);

/// Amplitudes of a mode along +n and -n in fields: e at the line, h half a cell before and behind
/// it, phasors of the scheme's own times.
///   a+ + a- = <e, h_m>/N,   a+ - a- = <e_m, (h_before + h_behind)/2> / (N cos(beta D/2)),  N =
///   <e_m, h_m>
struct ModeAmplitudes {
  std::complex<double> forward, backward;
};
ModeAmplitudes mode_amplitudes(const GridModes& modes, std::size_t mode,
                               const std::vector<std::complex<double>>& e,
                               const std::vector<std::complex<double>>& h_before,
                               const std::vector<std::complex<double>>& h_behind);

}  // namespace tessera::electromagnetics
