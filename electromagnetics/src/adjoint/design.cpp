// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/design.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

struct CellShare {
  int cell;
  double share;
};

/// Cells along one axis that surround the place `i` of a component, with their shares; none where the place is not computed.
std::vector<CellShare> around(const YeeGrid& grid, Faces faces, int component, int axis, int i) {
  const int n = grid.cells(axis);
  if (at_middle(component, axis) || n == 1) return {{i, 1.0}};
  const bool joined = faces.low == Boundary::periodic;
  if (i == n && joined) return {};
  if (i == 0 && !joined) return faces.low == Boundary::pmc ? std::vector<CellShare>{{0, 1.0}} : std::vector<CellShare>{};
  if (i == n) return faces.high == Boundary::pmc ? std::vector<CellShare>{{n - 1, 1.0}} : std::vector<CellShare>{};
  const int before = i == 0 ? n - 1 : i - 1;
  const double a = grid.length(axis, before), b = grid.length(axis, i);
  return {{before, a / (a + b)}, {i, b / (a + b)}};
}

}  // namespace

DesignRegion design_region(const YeeGrid& grid, const std::array<Faces, 3>& faces, const std::array<int, 3>& low, const std::array<int, 3>& high,
                           const std::vector<int>& components) {
  for (int d = 0; d < 3; ++d)
    if (low[d] < 0 || low[d] >= high[d] || high[d] > grid.cells(d))
      throw Error(fmt::format("[design_region] cells {} to {} along {}, of which there are {}", low[d], high[d], "xyz"[d], grid.cells(d)));
  DesignRegion out{.low = low, .high = high};
  const Index nx = high[0] - low[0], ny = high[1] - low[1], nz = high[2] - low[2];
  const auto inside = [&](int d, int cell) { return cell >= low[d] && cell < high[d]; };
  std::vector<Index> row_begin{0}, column;
  std::vector<double> share, outside;
  for (const int c : components) {
    if (!is_electric(c)) throw Error(fmt::format("[design_region] {} has no permittivity: choose from Ex, Ey and Ez", name_of(c)));
    std::array<std::vector<std::vector<CellShare>>, 3> cells;  // by axis and place
    for (int d = 0; d < 3; ++d)
      for (int i = 0; i <= (at_middle(c, d) || grid.cells(d) == 1 ? grid.cells(d) - 1 : grid.cells(d)); ++i) cells[d].push_back(around(grid, faces[d], c, d, i));
    const auto touches = [&](int d, std::size_t i) {
      return std::any_of(cells[d][i].begin(), cells[d][i].end(), [&](const CellShare& s) { return inside(d, s.cell); });
    };
    for (std::size_t k = 0; k < cells[2].size(); ++k)
      for (std::size_t j = 0; j < cells[1].size(); ++j)
        for (std::size_t i = 0; i < cells[0].size(); ++i) {
          if (!touches(0, i) || !touches(1, j) || !touches(2, k)) continue;
          double rest = 1;
          std::vector<std::pair<Index, double>> of_edge;
          for (const CellShare& z : cells[2][k])
            for (const CellShare& y : cells[1][j])
              for (const CellShare& x : cells[0][i]) {
                if (!inside(0, x.cell) || !inside(1, y.cell) || !inside(2, z.cell)) continue;
                of_edge.emplace_back(((z.cell - low[2]) * ny + y.cell - low[1]) * nx + x.cell - low[0], x.share * y.share * z.share);
                rest -= x.share * y.share * z.share;
              }
          std::sort(of_edge.begin(), of_edge.end());
          for (const auto& [cell, part] : of_edge) column.push_back(cell), share.push_back(part);
          row_begin.push_back(static_cast<Index>(column.size()));
          outside.push_back(std::abs(rest) < 1e-14 ? 0 : rest);
          out.edges.push_back({static_cast<std::uint8_t>(c), static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
        }
  }
  const Index n_edges = static_cast<Index>(out.edges.size());
  out.pattern = csr_pattern(n_edges, nx * ny * nz, std::move(row_begin), std::move(column));
  out.share = tensor(share);
  out.outside = tensor(outside);
  return out;
}

Tensor inverse_permittivity(const DesignRegion& region, const Tensor& eps, Arg surroundings) {
  if (eps.size() != region.pattern->cols())
    throw Error(fmt::format("[inverse_permittivity] the region has {} cells, got {}", region.pattern->cols(), to_string(eps.type())));
  return 1.0 / (csr_matmul(region.share, region.pattern, reshape(eps, {eps.size()})) + region.outside * surroundings);
}

}  // namespace tessera::electromagnetics
