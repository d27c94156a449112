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

#include <cstdint>
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

}  // namespace tessera::electromagnetics
