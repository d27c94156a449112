// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/gauss_newton.h"
#include "tessera/inversion/layering.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::inversion {

struct FewLayerOptions {
  int layers = 0;  ///< 0: the fewest layers, up to `most_layers`, that reach `target_rms`
  int most_layers = 8;
  int starts = 6;  ///< the first from the smooth model, the others from seeded changes of it
  std::uint64_t seed = 1;
  double target_rms = 1.0;
  std::optional<double> mean_ln_rho;            ///< of the prior; the smooth model's if not given
  double std_ln_rho = 4.605170185988092;        ///< of the prior: two decades
  double std_ln_thickness = 2.302585092994046;  ///< prior about the start's thickness: one decade
  GaussNewtonOptions newton{.max_iterations = 60};
};

struct FewLayerResult : GaussNewtonResult {
  LayeredEarth model;
  GaussianPrior prior;            ///< of (ln rho [n], ln h [n - 1]); laplace() takes it
  std::vector<double> by_layers;  ///< best RMS with 1, 2, ... layers (only the number asked for)
  int starts_agreeing = 0;        ///< how many starts end within 1 % of the least objective
};

/// A few layers with free resistivities and thicknesses, m = (ln rho [n], ln h [n - 1]).
/// `forward(n)` gives the physics for n layers; data, sigma and loss come from `problem` (its own
/// forward and `fixed` are not used). The start is the best piecewise-constant picture of the
/// smooth model (dynamic programming over its layers); further starts perturb it.
FewLayerResult few_layer(const InverseProblem& problem,
                         const std::function<ForwardMap(int n_layers)>& forward,
                         const Layering& layering, const std::vector<double>& smooth_ln_rho,
                         const FewLayerOptions& options = {});

/// The piecewise-constant model of `n_layers` closest to ln rho given on a layering, in the mean
/// square over log depth.
LayeredEarth segment(const Layering& layering, const std::vector<double>& ln_rho, int n_layers);

}  // namespace tessera::inversion
