// SPDX-License-Identifier: Apache-2.0
//
// How the media of a grid's edges and faces move with numbers that its scene is made from, losses
// and shares of poles included; and what conductors leave open of them, which is a factor of theta.
//
// An edge has theta = [1/inverse, loss, weights of sets of poles] (MixedEdges). Differences of the
// averaging and of the shares give d theta / d p of every edge and face that moves; a run whose
// `mixed` are these then is a function of theta, and so of p:
//
//   const MediumDerivatives d = medium_derivatives(model_of, {length}, {1e-5 * cell});
//   model.mixed = d.edges;
//   const ObservedRun run(std::move(model), sources, observations, n_steps);
//   auto [x, dx] = jvp([&](const Tensor& p) { return run.values(d.at(p), {})[0]; }, p0, one);
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <functional>
#include <vector>

namespace tessera::electromagnetics {

struct MediumDerivatives {
  MixedEdges edges;
  std::vector<double> theta;               ///< [edges, K], K as of MixedEdges, by the own shares
  std::vector<std::vector<double>> moves;  ///< [parameter][edges, K] d theta / d p
  /// [parameter][edges, K] d^2 theta / d p^2, where they are asked for.
  std::vector<std::vector<double>> curves = {};

  /// theta [edges K] in the change of the parameters [parameter]: to first order, and to second in
  /// each alone where there are `curves`.
  Tensor at(const Tensor& change) const;
};

/// Second derivatives are those of what moves without kinks, such as the circuits of lumped
/// elements.
enum class MediumOrder { first, second };

/// Central differences with a step for each parameter, for lengths 1e-5 of a cell: what may move is
/// averaged smoothly while no face leaves the box of its edge, and where one does, the mean of both
/// sides is given. Where a conductor ends at a line of the grid, edges open on one side of it and
/// none on the other: the slope there is given. Throws Error where a parameter moves conductors off
/// such lines at both ends and these are near to each other, or such that its surface comes to a
/// line just there, a nonlinear medium, tensors, the grid or the time step, or nothing at all.
MediumDerivatives medium_derivatives(
    const std::function<YeeModel(const std::vector<double>&)>& model_of,
    const std::vector<double>& at, const std::vector<double>& steps,
    MediumOrder order = MediumOrder::first);

}  // namespace tessera::electromagnetics
