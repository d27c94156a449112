// SPDX-License-Identifier: Apache-2.0
// Learnt models where the physics is replaced by its tangent: what is left to search is the decoder
// alone, so that codes may go far without a solve of the physics.
#pragma once
#include "tessera/data/random.h"
#include "tessera/inversion/gauss_newton.h"
#include "tessera/inversion/learnt_inversion.h"
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

/// What earths cost that have codes z and that decoders are wrong by e, linear around x: with
///   V = C + A Q^-1 A^T + K K^T,   K = J dm/dz,   d = (J W e) / sigma + K z,
///   G = C + B Q^-1 B^T,   B = A sqrt(1 - LearntModel::decoder_part):
/// noise, and pixels as far as they are no errors of decoders, the cost is in the mean
/// tr V^-1 G + d^T V^-1 d, and has the variance 2 (tr (V^-1 G)^2 + 2 d^T V^-1 G V^-1 d). Of a loss
/// other than squares it is that of w r^2, w = Loss::expected().
std::vector<ExpectedCost> expected_costs(const InverseProblem& problem, const LearntModel& model,
                                         const GaussianPrior& prior, const std::vector<double>& x,
                                         const std::vector<HeldOut>& held_out);

}  // namespace tessera::inversion
