// SPDX-License-Identifier: Apache-2.0
// Learnt models where the physics is replaced by its tangent: what is left to search is the decoder
// alone, so that codes may go far without a solve of the physics.
#pragma once
#include "tessera/data/random.h"
#include "tessera/inversion/gauss_newton.h"
#include "tessera/inversion/learnt_model.h"

#include <Eigen/Dense>

#include <vector>

namespace tessera::inversion {

/// Around ln rho m0 of cells F is F(m0) + J (m - m0). Pixels, which are then linear, are integrated
/// out: data have the covariance C + A Q^-1 A^T, A = J P, and what is left of the objective,
///   |r(z)|^2 + |z|^2,   r(z) = L^-1 (d - F(m0) - J (m(z) - m0)) / sigma,
/// is that of codes and the pixels which are best beside them. Losses count as squares.
class StraightPhysics {
 public:
  /// `problem` is that of the cells, `prior` that of x = (p, z).
  StraightPhysics(const InverseProblem& problem, const LearntModel& model,
                  const GaussianPrior& prior, const std::vector<double>& m0);
  /// From x to the nearest minimum: codes found by Gauss-Newton, pixels the best beside them.
  std::vector<double> minimum_from(const std::vector<double>& x) const;
  /// The nearest minimum where data and codes' means are moved by draws of what they are known to,
  /// with the best pixels for the data as they are: of the posterior, exactly so where D is linear
  /// (randomized maximum likelihood: D. Oliver, N. He and A. Reynolds 1996,
  /// doi:10.3997/2214-4609.201406884).
  std::vector<double> draw_from(const std::vector<double>& x, data::RandomKey key) const;

 private:
  std::vector<double> searched(const InverseProblem& codes, const GaussianPrior& prior,
                               const std::vector<double>& x) const;
  InverseProblem codes_;
  GaussianPrior prior_;  ///< of codes
  std::vector<double> pixels_mean_;
  Eigen::MatrixXd pixels_of_residual_;  ///< Q^-1 A^T L^-T, of the part of r that codes move
};

/// What of the data's variance, as the prior at x has it, is that of pixels where generators speak:
/// of V = C + A Q^-1 A^T + K K^T, K = J dm/dz, and B = the pixels' part of it, traces of V^-1 B and
/// of its square, a datum.
struct PixelShare {
  double mean = 0, square = 0;
};
PixelShare pixel_share(const InverseProblem& problem, const LearntModel& model,
                       const GaussianPrior& prior, const std::vector<double>& x);

}  // namespace tessera::inversion
