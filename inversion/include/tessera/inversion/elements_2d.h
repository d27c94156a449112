// SPDX-License-Identifier: Apache-2.0
//
// Finite elements on a Mesh2d: triangles P1, P2 and quadrilaterals Q1, Q2 (of corners that need not
// be right) behind one interface: nodes, the nodes of each cell, and each cell's integrals
//
//   yy_ij = int dphi_i/dy dphi_j/dy,   zz_ij = int dphi_i/dz dphi_j/dz,   mass_ij = int phi_i
//   phi_j.
//
// Exact for triangles and parallelograms; of other quadrilaterals by four Gauss points an axis.
// Nodes are the vertices, then the middles of edges (order 2), then those of cells (Q2).
#pragma once
#include "tessera/inversion/mesh_2d.h"

#include <array>
#include <functional>
#include <vector>

namespace tessera::inversion {

/// An edge with its nodes: its ends and, at order 2, its middle (else -1).
struct Edge2d {
  std::array<Index, 3> node{-1, -1, -1};
  std::array<Index, 2> cell{-1, -1};  ///< at it; the second is -1 on the rim
};

struct Space2d {
  int order = 1, corners = 4, per_cell = 4;
  std::vector<double> y, z;  ///< of the nodes, m
  std::vector<Index> node;   ///< [cells, per_cell]
  std::vector<Edge2d> edges;
  std::vector<Index> edge;  ///< [cells, corners]: edge from that corner to the next
  Index cells() const { return static_cast<Index>(node.size()) / per_cell; }
  Index nodes() const { return static_cast<Index>(y.size()); }
};
/// Throws Error unless order is 1 or 2.
Space2d space_2d(const Mesh2d& mesh, int order);

/// [cells, per_cell, per_cell] each.
struct CellIntegrals {
  std::vector<double> yy, zz, mass;
};
CellIntegrals cell_integrals(const Space2d& space);

/// Shape functions and their derivatives by y and z at a point of a cell.
struct ShapeValues {
  std::array<double, 9> phi{}, dy{}, dz{};
};
/// Visits the quadrature points of cell c: where they lie, their weights (area included), shapes.
void for_points(
    const Space2d& space, Index c,
    const std::function<void(double y, double z, double weight, const ShapeValues&)>& f);

/// Integrals along an edge of length L over its 2 or 3 nodes (end, end, middle).
struct EdgeIntegrals {
  int n = 2;
  std::array<std::array<double, 3>, 3> mass{}, stiffness{},
      slope{};                   ///< slope: int phi_i dphi_j/ds
  std::array<double, 3> load{};  ///< int phi_i
};
EdgeIntegrals edge_integrals(int order, double length);
/// Shape functions of an edge at 0 <= t <= 1 from its first end.
std::array<double, 3> edge_shapes(int order, double t);

}  // namespace tessera::inversion
