// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/occam.h"
#include "tessera/inversion/posterior.h"

#include <vector>

namespace tessera::inversion {

/// The posterior when the roughness weight is itself unknown: a weighted sum of Laplace posteriors,
/// one per weight mu of a grid with equal prior probability each. The weights are the evidences
///   -2 ln p(d | mu) = Phi(m*) - ln det precision + ln det H,   H half the Hessian of Phi at m*
/// (MacKay 1992, Neural Computation 4, 415); where parameters are fixed, those of the others, given
/// their values, which are no data (log_normalization). Bands at the one mu that Occam ends with
/// are far too narrow, because Occam chooses the smoothest model and not the most probable
/// roughness: 57 % of the truth instead of 90 % (docs/decisions/0030).
struct SmoothPosterior {
  struct Component {
    double mu = 0;
    double weight = 0;  ///< sums to 1 over the components
    double minus_two_log_evidence = 0;
    double rms = 0;
    Posterior posterior;
  };
  std::vector<Component> components;             ///< those with a weight above 0.001
  std::size_t most_probable = 0;                 ///< index of the largest weight
  bool exact_hessian = true;                     ///< of all components
  std::vector<double> mean, standard_deviation;  ///< of the mixture, per parameter

  /// Quantile of each parameter's marginal, 0 < probability < 1.
  std::vector<double> quantile(double probability) const;
};

/// Follows the optimum from the largest mu to the smallest, starting from `start` (Gauss-Newton's
/// Hessian decides which components matter; those of weight 0.05 and more get the exact one).
/// Throws SingularPosterior.
SmoothPosterior smooth_posterior(const InverseProblem& problem, const Smoothing& smoothing,
                                 std::vector<double> mu_grid, const std::vector<double>& start,
                                 const GaussNewtonOptions& options = {});

}  // namespace tessera::inversion
