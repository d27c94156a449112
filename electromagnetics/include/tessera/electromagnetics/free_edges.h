// SPDX-License-Identifier: Apache-2.0
//
// Edges whose permittivity may be an argument of a run, where nobody has said which: those of the
// bodies that a model has.
//
//   const FreeEdges free = free_edges(model, background);
//   model.traced = free.edges;
//   const YeeOpPtr op = yee_op(std::move(model));
//   auto loss = [&](Tensor eps) { return f(simulate(op, coefficients(op, 1.0 / eps), currents)); };
//   Tensor g = grad(loss)(tensor(free.eps));
#pragma once
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace tessera::electromagnetics {

struct FreeEdges {
  std::vector<Edge> edges;  ///< by component, then k, j, i
  std::vector<double> eps;  ///< relative permittivity of each
  /// Edges of bodies that are left out, as their coefficient does not tell all of the medium.
  std::int64_t lossy = 0, dispersive = 0, conducting = 0;
  bool of_background = false;  ///< no body is a lossless dielectric
};
/// Edges that the scheme computes and that differ from the medium `around` in permittivity, to
/// 1e-12, without loss and poles; where there are none, those of `around` in the middle half of the
/// domain along each axis. Compiles the model.
FreeEdges free_edges(const YeeModel& model, const Medium& around);
/// The same for large grids, a piece of `most_cells` cells at a time (of 16 planes at least), so
/// that nothing has the size of the grid: `model_of` gives the model of a slab.
FreeEdges free_edges(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                     const std::function<YeeModel(const Slab&)>& model_of, const Medium& around,
                     std::int64_t most_cells = std::int64_t{4} << 20);

}  // namespace tessera::electromagnetics
