// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"

#include <array>
#include <vector>

namespace tessera::electromagnetics::detail {

using Cell = std::array<int, 3>;  ///< of a grid, or a node of it, by its number along each axis

inline std::array<int, 3> index_of(const Edge& e) { return {e.i, e.j, e.k}; }

/// The edge or face of a component there; the last line of a joined axis is its first one.
Edge edge_at(int component, std::array<int, 3> at, const YeeGrid& grid, const Periodic& periodic);

/// The cells that an edge or face belongs to.
std::vector<Cell> cells_of(const YeeGrid& grid, const Periodic& periodic, const Edge& edge);

/// The edges about a face; those along which an axis that is not resolved would be crossed cancel
/// and are left out.
std::vector<Edge> edges_of(const YeeGrid& grid, const Periodic& periodic, const Edge& face);

/// The fraction, before it is enlarged, of a face that rounds to nothing but has an open edge.
inline constexpr double rounded = 1e-12;

/// Enlarges faces until no cell's eigenvalue exceeds `largest`, which is at least
/// curl_curl_bound(grid), and counts them.
void limit_areas(CutCellFractions& open, const YeeGrid& grid, const Periodic& periodic,
                 double largest);

}  // namespace tessera::electromagnetics::detail
