// SPDX-License-Identifier: Apache-2.0
//
// A block of cells whose permittivity is free, and the edges that it reaches. An edge is surrounded
// by up to four cells (two where an axis across it is not resolved); its permittivity is their
// mean, each with its share of the area across the edge.
//
//   const DesignRegion region = design_region(grid, faces, {30, 30, 0}, {70, 70, 1}, {Ez});
//   model.traced = region.edges;
//   const YeeOpPtr op = yee_op(std::move(model));
//   auto loss = [&](Tensor eps) {
//     return f(simulate(op, coefficients(op, inverse_permittivity(region, eps)), currents));
//   };
#pragma once
#include "tessera/autodiff/ops/sparse.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/yee_grid.h"
#include "tessera/electromagnetics/yee_scheme.h"

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

/// Edges of `components` that border on the cells; those that the scheme does not compute, on outer
/// conductors and behind joined faces, are left out. Throws Error where the cells are none or lie
/// outside of the grid.
DesignRegion design_region(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                           const std::array<int, 3>& low, const std::array<int, 3>& high,
                           const std::vector<int>& components = {Ex, Ey, Ez});

/// The same for the densities of pixels, blocks of any lines, instead of cells: the share of each
/// in the box of an edge, as Averaging::volume takes it of a structure of these pixels (pixels.h).
/// `low` and `high` hold the cells that they reach. Throws Error where lines do not rise, or all of
/// the pixels lie outside of the grid.
DesignRegion pixel_region(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                          const std::array<std::vector<double>, 3>& lines,
                          const std::vector<int>& components = {Ex, Ey, Ez});

/// 1/eps [edges] from the relative permittivity of the cells, [z, y, x] or any shape of as many
/// numbers with x fastest; `surroundings`: relative permittivity outside of the region, a number or
/// one for each edge.
Tensor inverse_permittivity(const DesignRegion& region, const Tensor& eps, Arg surroundings = 1.0);

/// The region's cells filled with two media, metals among them: a density p takes the share p of
/// `full` and 1 - p of `empty`, so that permittivity at infinite frequency, conductivity and
/// residues are linear in it. What is mixed is eps, not what a cell of both media would have:
/// between a metal and a dielectric some p has Re eps = 0 at some frequency.
///
///   const DesignMixture mixture = design_mixture(region, air, gold, air, model.dt_s);
///   model.mixed = mixture.edges;
///   const YeeOpPtr op = yee_op(std::move(model));
///   auto loss = [&](Tensor density) {
///     return f(simulate(op, mixture_parameters(region, mixture, density), currents));
///   };
struct DesignMixture {
  MixedEdges edges;
  Tensor empty, full, around;  ///< [edges, K] their parameters in each medium alone
};
/// `around` fills the shares of edges outside of the region. Throws Error for perfect conductors,
/// nonlinear media, and media that differ in permeability, which is no parameter.
DesignMixture design_mixture(const DesignRegion& region, const Medium& empty, const Medium& full,
                             const Medium& around, double dt_s);
/// theta [edges K] from the density of the cells, [z, y, x] or any shape of as many numbers with x
/// fastest. Media without gain stay so for densities from 0 to 1.
Tensor mixture_parameters(const DesignRegion& region, const DesignMixture& mixture,
                          const Tensor& density);

}  // namespace tessera::electromagnetics
