// SPDX-License-Identifier: Apache-2.0
//
// The inverse permittivity of a grid at faces that run across it: a tensor for each of the eight
// corners at a node. It is more accurate than one tensor per node (averaging.h) and needs no
// clipping.
//
// Near a face with normal n the vector F of the components that do not jump, E_t + n D_n, is
// constant to first order. In each medium E = A F with A = T + n (n - (n . e) T)/e_nn, T = 1 - n
// n^T, and D = e A F. A grid knows D as means over the dual faces of its edges. The three edges of
// a corner see
//   D_k = sum over media of (share of dual face k) (e A)_k F, so D = Pi F with a 3x3 matrix Pi,
// and the corner, an eighth of the node's box, holds the energy D . E = F . W F per volume with
// W = <A^T e A>, the mean over its own box. The tensor
//   xi = Pi^-T W Pi^-1,   so that D . xi D = F . W F,
// gives constant F its energy exactly. As W is symmetric and positive, so is xi, and so is the
// operator
//   E_e = sum over the corners that have the edge e of (V_corner / V_e) (xi D_corner)_e,
// whatever the geometry. In a uniform medium, or where faces follow the grid, it is what
// `edge_material` says, without off-diagonals.
#pragma once
#include "tessera/electromagnetics/averaging.h"

#include <cmath>

namespace tessera::electromagnetics {

/// Corner c of a node has, along each axis k, the edge behind the node (towards larger coordinates)
/// if bit k of c is set, else the one before it.
struct NodeCorners {
  bool coupled = false;                          ///< whether some off-diagonal is not zero
  std::array<SymmetricTensor, 8> inverse_eps{};  ///< relative
  /// m^3; over all corners that have an edge they sum to its V_e. An axis that is not resolved
  /// counts as two halves of its cell. Zero where an edge of the corner does not exist.
  std::array<double, 8> volume{};
};

/// Several faces in the node's box are taken one after the other, as in averaging.h; in a mirror
/// they are those of the whole box, with the image. Where it holds
/// a conductor or a medium with poles, conductivity or nonlinearity, the corners are diagonal, with
/// the inverse permittivities of their edges.
///
/// A corner may have eigenvalues above the largest 1/eps in its box, more so at higher contrast
/// (measured: up to 5 for eps 1 and 12), and then the operator may need a shorter time step than
/// its media do. With `largest`, eigenvalues stop there: the operator is then at most `largest`
/// times that of the vacuum, and leapfrog is stable for (c dt)^2 curl_curl_bound(grid) largest < 4.
/// The lower it is, the more of the accuracy is lost; a limit of 1.1/min(eps) suits a step of 0.95
/// of the media's.
NodeCorners node_corners(const SceneOrder& scene, const std::vector<Medium>& media,
                         const YeeGrid& grid, const std::array<int, 3>& node,
                         const Periodic& periodic = {}, double largest = INFINITY);

/// The off-diagonals of one node as a grid of uniform cells takes them:
///   E_x += 1/4 sum over both nodes of the edge and both y edges of each node of xi_xy(pair) D_y.
struct NodeCoupling {
  int i = 0, j = 0, k = 0;
  /// xy, xz, yz; for each the four pairs of edges of the node: bit 0 set: the edge of the first
  /// axis lies behind the node, bit 1: that of the second. Each is 4 sum over its two corners of
  /// V_corner xi / V_node.
  std::array<std::array<double, 4>, 3> pairs{};
};
struct EdgeInverse {
  Edge edge;
  double inverse_eps;
};
struct CornerCoefficients {
  std::vector<NodeCoupling> nodes;  ///< with an off-diagonal
  std::vector<EdgeInverse> edges;   ///< at these nodes, instead of edge_material's
};

/// Nodes first ... last of a grid (both counted; of a periodic axis the last line is the first).
struct NodeRange {
  std::array<int, 3> first, last;
};

/// The corner tensors of a grid, with `largest` as above. `uniform`: uniform_media(scene, grid,
/// periodic), or the same of some planes: then nodes there, and the edges between these.
CornerCoefficients corner_coefficients(const SceneOrder& scene, const std::vector<Medium>& media,
                                       const YeeGrid& grid, const UniformMedia& uniform,
                                       const NodeRange& range, const Periodic& periodic,
                                       double largest);

}  // namespace tessera::electromagnetics
