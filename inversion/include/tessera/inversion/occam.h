// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/gauss_newton.h"

#include <functional>
#include <vector>

namespace tessera::inversion {

/// A family of priors by roughness weight, and the roughness itself.
struct Smoothing {
  std::function<GaussianPrior(double mu)> prior;
  std::function<double(const std::vector<double>& m)> roughness;
  bool proportional = false;  ///< the precision is mu times one matrix: data space is made once
};

struct OccamOptions {
  double target_rms = 1.0;
  double mu_start = 1e4;  ///< nearly a half-space for data with an RMS of the order of ten
  double mu_smallest = 1e-5;
  double mu_largest = 1e6;
  int max_iterations = 120;  ///< Gauss-Newton steps in all
  GaussNewtonOptions newton;
};

struct OccamResult : GaussNewtonResult {
  double mu = 0;
};

/// The smoothest model whose RMS is at most `target_rms` (Constable, Parker and Constable 1987,
/// Geophysics 52, 289). Each step makes one Jacobian and looks for the weight mu within it: the
/// largest whose linearized response has the RMS aimed at, half of the present one and at last
/// 0.995 of the target; a line search on the objective of that mu follows. Near the target
/// Gauss-Newton goes to the minimum for the mu, and the next mu is found in the same way, between
/// those that are known to lie above and below. The result is therefore a stationary point for its
/// mu, with target * 0.99 <= RMS <= target unless the reason says otherwise. If the target cannot
/// be reached, the result is the smoothest model within 2 % of the lowest RMS found.
OccamResult occam(const InverseProblem& problem, const Smoothing& smoothing,
                  const std::vector<double>& start, const OccamOptions& options = {});

}  // namespace tessera::inversion
