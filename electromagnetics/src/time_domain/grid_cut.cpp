// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/grid_cut.h"

#include "tessera/autodiff/error.h"
#include "tessera/parallel/communicator.h"
#include "tessera/parallel/part_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace tessera::electromagnetics {

int cut_axis(const YeeGrid& grid) {
  const int ny = grid.cells(1), nz = grid.cells(2);
  return std::max(ny, nz) == 1 ? -1 : nz >= ny ? 2 : 1;
}

GridCut cut_grid(const YeeGrid& grid, parallel::Communicator& ranks,
                 const std::vector<double>& weights) {
  const int n = ranks.size();
  if (!weights.empty() && static_cast<int>(weights.size()) != n)
    throw Error("[cut_grid] " + std::to_string(weights.size()) + " weights for " +
                std::to_string(n) + " ranks");
  for (const double w : weights)
    if (!(w > 0 && std::isfinite(w))) throw Error("[cut_grid] weights of ranks are positive");
  const int axis = cut_axis(grid), cells = axis < 0 ? 0 : grid.cells(axis);
  if (n == 1 || cells < n) return {};
  GridCut cut{&ranks, axis, {}};
  if (weights.empty()) {
    for (const Index i : parallel::deal_parts(cells, n)) cut.begin.push_back(static_cast<int>(i));
    return cut;
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double before = 0;
  cut.begin.push_back(0);
  for (int r = 0; r < n; ++r) {
    before += weights[static_cast<std::size_t>(r)];
    cut.begin.push_back(std::clamp(static_cast<int>(std::lround(before / all * cells)),
                                   cut.begin.back() + 1, cells - (n - 1 - r)));
  }
  return cut;
}

Slab slab_of(const std::array<Faces, 3>& faces, const GridCut& cut) {
  if (!cut.ranks) return {};
  const int me = cut.ranks->rank(), n = cut.ranks->size();
  const auto u = static_cast<std::size_t>(me);
  const bool joined = faces[static_cast<std::size_t>(cut.axis)].low == Boundary::periodic;
  return {.axis = cut.axis,
          .begin = cut.begin[u],
          .end = cut.begin[u + 1],
          .below = me > 0   ? me - 1
                   : joined ? n - 1
                            : -1,
          .above = me + 1 < n ? me + 1
                   : joined   ? 0
                              : -1,
          .ranks = cut.ranks};
}

std::vector<std::vector<std::int64_t>> edges_by_rank(const std::vector<Edge>& edges,
                                                     const GridCut& cut) {
  std::vector<std::vector<std::int64_t>> all(cut.ranks ? cut.begin.size() - 1 : 1);
  for (std::size_t m = 0; m < edges.size(); ++m) {
    const int at = cut.axis == 1 ? edges[m].j : edges[m].k;
    std::size_t r = 0;
    while (cut.ranks && r + 2 < cut.begin.size() && at >= cut.begin[r + 1]) ++r;
    all[r].push_back(static_cast<std::int64_t>(m));
  }
  return all;
}

/// Rows from begin - 1 to end, whose edges are made of the cells beside them, and the nodes at
/// their ends.
Planes planes_of(const YeeGrid& grid, const Slab& slab) {
  if (!slab.ranks) return {};
  const int cells = grid.cells(slab.axis), first = slab.below < 0 ? 0 : slab.begin - 1,
            end = slab.above < 0 ? cells : slab.end + 2;
  if (end - first >= cells) return {};
  return {slab.axis, (first + cells) % cells, end - first};
}

}  // namespace tessera::electromagnetics
