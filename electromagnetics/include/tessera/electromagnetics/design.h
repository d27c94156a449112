// SPDX-License-Identifier: Apache-2.0
//
// A block of cells whose permittivity is free, and the edges that it reaches. An edge is surrounded by up to four cells (two
// where an axis across it is not resolved); its permittivity is their mean, each with its share of the area across the edge.
//
//   const DesignRegion region = design_region(grid, faces, {30, 30, 0}, {70, 70, 1}, {Ez});
//   model.traced = region.edges;
//   const YeeOpPtr op = yee_op(std::move(model));
//   auto loss = [&](Tensor eps) { return f(simulate(op, coefficients(op, inverse_permittivity(region, eps)), currents)); };
#pragma once
#include "tessera/autodiff/ops/sparse.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <vector>

namespace tessera::electromagnetics {

struct DesignRegion {
  std::array<int, 3> low{}, high{};  ///< cells low <= (i, j, k) < high
  std::vector<Edge> edges;           ///< by component, then k, j, i
  CsrPatternPtr pattern;             ///< [edges, cells], cells with x fastest
  Tensor share;                      ///< [entries] of a cell in the permittivity of an edge
  Tensor outside;                    ///< [edges] share of cells that are not in the region
};

/// Edges of `components` that border on the cells; those that the scheme does not compute, on outer conductors and behind joined
/// faces, are left out. Throws Error where the cells are none or lie outside of the grid.
DesignRegion design_region(const YeeGrid& grid, const std::array<Faces, 3>& faces, const std::array<int, 3>& low, const std::array<int, 3>& high,
                           const std::vector<int>& components = {Ex, Ey, Ez});

/// 1/eps [edges] from the relative permittivity of the cells, [z, y, x] or any shape of as many numbers with x fastest;
/// `surroundings`: relative permittivity outside of the region, a number or one for each edge.
Tensor inverse_permittivity(const DesignRegion& region, const Tensor& eps, Arg surroundings = 1.0);

}  // namespace tessera::electromagnetics
