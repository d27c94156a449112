// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"

#include <vector>

namespace tessera::electromagnetics::detail {

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
