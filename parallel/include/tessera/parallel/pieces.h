// SPDX-License-Identifier: Apache-2.0
//
// Meshes and matrices in pieces.
//
//   const Graph g = dual_graph(tetrahedra, 4);                // neighbours: who shares a face
//   const std::vector<int> piece = cut_graph(g, 8);           // METIS; or cut_curve(centres, 8)
//   const auto owned = members(piece, c.rank());
//   const auto ghosts = rings(g, piece, c.rank(), 2);         // what lies within two neighbours
//   const auto plan = ExchangePlan::make(c, {.owned = owned, .wanted = owned_and_ghosts});
//
// Which piece an element is in follows from the mesh alone, not from who asks: the same calls give
// the same pieces on every rank.
#pragma once
#include "tessera/autodiff/shape.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::parallel {

/// Neighbours of each node, both ways, none of itself: those of node i are next[first[i]] ...
/// next[first[i + 1] - 1], ascending.
struct Graph {
  std::vector<Index> first = {0};
  std::vector<Index> next;
  Index size() const { return static_cast<Index>(first.size()) - 1; }
};

/// Elements of a mesh as nodes, neighbours where they share `shared` nodes or more: by default all
/// but one of the smaller element's, a face of tetrahedra, an edge of triangles. `nodes`: those of
/// each element, `of_each` of them. Throws Error where they are no whole number of elements, are
/// negative, or repeat in one.
Graph dual_graph(std::span<const std::int32_t> nodes, int of_each, int shared = 0);
/// Unknowns that share a row of a square matrix in CSR form, either way. Throws Error where row
/// offsets or columns are none.
Graph graph_of_matrix(std::span<const Index> rows, std::span<const Index> columns);

/// The piece of each node by METIS (Karypis & Kumar, SIAM J. Sci. Comput. 20 (1998) 359): few edges
/// between pieces, whose weights differ by 3 % at most where nodes are many and light enough for
/// it; no piece is empty that has its share of them. `weights`: of each node, whole and not
/// negative; empty, or all 0: all 1. Throws Error where METIS is not built in, naming the package,
/// or where it has to say no. `shares`: of the pieces, as they should be; empty: equal.
std::vector<int> cut_graph(const Graph& g, int pieces, std::span<const std::int32_t> weights = {},
                           std::span<const double> shares = {});

/// The piece of each point along Hilbert's curve through a cube around them (Skilling, AIP Conf.
/// Proc. 707 (2004) 381), cut where shares of the weights are reached: no graph is needed, and
/// whoever knows the extent can tell where a point lies. Weights are not negative; empty,
/// or all 0: all 1. Throws Error where a coordinate or a weight is no number.
std::vector<int> cut_curve(std::span<const std::array<double, 3>> points, int pieces,
                           std::span<const double> weights = {},
                           std::span<const double> shares = {});

/// What a cut costs.
struct CutQuality {
  Index edges = 0;       ///< between different pieces
  double imbalance = 1;  ///< of the largest piece: its weight over its share of all
};
CutQuality quality_of(const Graph& g, std::span<const int> piece, int pieces,
                      std::span<const std::int32_t> weights = {});

/// Nodes of a piece, ascending.
std::vector<Index> members(std::span<const int> piece, int of);
/// Nodes of other pieces within k neighbours of a piece, ascending.
std::vector<Index> rings(const Graph& g, std::span<const int> piece, int of, int k);

}  // namespace tessera::parallel
