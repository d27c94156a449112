// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/corner_tensors.h"

#include "geometry/grid_boxes.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// An edge of a node, with what fills its dual face.
struct NodeEdge {
  bool exists = false;
  Edge edge;
  int cell = 0;  // along its axis
  double half_length = 0;
  Fill dual_face;
};

NodeEdge edge_at(const SceneOrder& scene, const YeeGrid& grid, const std::array<int, 3>& node,
                 int axis, bool behind, const Periodic& periodic) {
  NodeEdge out;
  const int n = grid.cells(axis);
  int cell = behind ? node[axis] : node[axis] - 1;
  if (!grid.resolved(axis)) {
    cell = 0;
  } else if (cell < 0 || cell >= n) {
    if (!periodic[axis]) return out;
    cell = (cell + n) % n;
  }
  std::array<int, 3> index = node;
  index[axis] = cell;
  out.exists = true;
  out.edge = {static_cast<std::uint8_t>(axis), index[0], index[1], index[2]};
  out.cell = cell;
  out.half_length = grid.length(axis, cell) / 2;
  Spans spans = spans_at(grid, node, {false, false, false}, periodic);
  spans[axis] = {{grid.middle(axis, cell), grid.middle(axis, cell)}};
  out.dual_face = fill_spans(scene, spans);
  return out;
}

/// Takes F to E in a medium: T + n (n - (n . e) T)/e_nn.
Matrix3d field(const Vector3d& e, const Vector3d& n) {
  const Matrix3d t = Matrix3d::Identity() - n * n.transpose();
  const Vector3d en = e.cwiseProduct(n);
  return t + n * (n - t * en).transpose() / n.dot(en);
}

/// Pi^-T W Pi^-1 for faces of one direction.
Matrix3d corner_tensor(const std::array<const NodeEdge*, 3>& edges, const Fill& corner,
                       const std::vector<Point>& values, const Vector3d& n) {
  const auto eps = [&](int medium) {
    return Vector3d(Eigen::Map<const Vector3d>(values[medium].data()));
  };
  Matrix3d pi = Matrix3d::Zero(), w = Matrix3d::Zero();
  for (int k = 0; k < 3; ++k)
    for (const Share& s : edges[k]->dual_face.media)
      pi.row(k) += s.fraction * eps(s.medium)[k] * field(eps(s.medium), n).row(k);
  for (const Share& s : corner.media) {
    const Matrix3d a = field(eps(s.medium), n);
    w += s.fraction * a.transpose() * eps(s.medium).asDiagonal() * a;
  }
  const Matrix3d inverse = pi.inverse();
  return inverse.transpose() * w * inverse;
}

/// The symmetric tensor with eigenvalues cut off at `largest`.
Matrix3d limited(const Matrix3d& xi, double largest) {
  const Eigen::SelfAdjointEigenSolver<Matrix3d> eigen(xi);
  if (!(eigen.eigenvalues()[2] > largest)) return xi;
  const Matrix3d& v = eigen.eigenvectors();
  return v * eigen.eigenvalues().cwiseMin(largest).asDiagonal() * v.transpose();
}

}  // namespace

NodeCorners node_corners(const SceneOrder& scene, const std::vector<Medium>& media,
                         const YeeGrid& grid, const std::array<int, 3>& node,
                         const Periodic& periodic, double largest) {
  std::array<std::array<NodeEdge, 2>, 3> edges;
  for (int k = 0; k < 3; ++k)
    for (bool behind : {false, true})
      edges[k][behind] = edge_at(scene, grid, node, k, behind, periodic);
  const Spans around = spans_at(grid, node, {false, false, false}, periodic);
  const Fill whole = fill_spans(scene, around);
  const bool lossless = std::all_of(whole.media.begin(), whole.media.end(),
                                    [&](const Share& s) { return plain(media[s.medium]); });
  const std::vector<Point> values = values_of(media, &Medium::eps);
  SymmetricTensor o = orientation(whole, values);
  // Directions of equal weight are any in their plane: those along the grid where rounding alone
  // would turn them, as at a mirror.
  for (int k = 3; k < 6; ++k)
    if (std::abs(o[k]) < 1e-9) o[k] = 0;
  const bool faces = lossless && o[0] + o[1] + o[2] > 0;
  Matrix3d nn;
  nn << o[0], o[3], o[4], o[3], o[1], o[5], o[4], o[5], o[2];
  const Eigen::SelfAdjointEigenSolver<Matrix3d> directions(nn);

  NodeCorners out;
  for (int c = 0; c < 8; ++c) {
    std::array<const NodeEdge*, 3> at;
    double volume = 1;
    for (int k = 0; k < 3; ++k) {
      at[k] = &edges[k][c >> k & 1];
      volume *= at[k]->half_length;
    }
    if (volume == 0) continue;
    out.volume[c] = volume;
    if (lossless && !faces) {
      out.inverse_eps[c] = inverse_average(whole, values);
      continue;
    }
    if (!lossless) {
      for (int k = 0; k < 3; ++k)
        out.inverse_eps[c][k] =
            edge_material(scene, media, grid, at[k]->edge, Averaging::kottke, periodic).inverse_eps;
      continue;
    }
    Spans eighth = around;
    for (int k = 0; k < 3; ++k) {
      if (!grid.resolved(k)) continue;
      const int cell = at[k]->cell;
      const double middle = grid.middle(k, cell);
      eighth[k] = {c >> k & 1 ? Span{grid.lines[k][cell], middle}
                              : Span{middle, grid.lines[k][cell + 1]}};
    }
    const Fill corner = fill_spans(scene, eighth);
    Matrix3d xi = Matrix3d::Zero();
    for (int k = 0; k < 3; ++k)
      if (const double weight = directions.eigenvalues()[k]; weight > 1e-12)
        xi += weight * corner_tensor(at, corner, values, directions.eigenvectors().col(k));
    xi = limited(xi, largest);
    out.inverse_eps[c] = {xi(0, 0), xi(1, 1), xi(2, 2), xi(0, 1), xi(0, 2), xi(1, 2)};
    for (int k = 3; k < 6; ++k)
      out.coupled = out.coupled || std::abs(out.inverse_eps[c][k]) > 1e-12;
  }
  return out;
}

}  // namespace tessera::electromagnetics
