// SPDX-License-Identifier: Apache-2.0
//
// Laplace's approximation where the matrix of the parameters is not wanted. In the prior's own
// units, Q = S S^T and m = mean + S^-T w, half the Hessian of Phi is
//   H = S (1 + A) S^T,   A = S^-1 (H - Q) S^-T,
// and A, what the data say, has few eigenvalues away from 0: as many as there are data, and of the
// order of a tenth of these in practice. Lanczos (with full reorthogonalization) finds them by
// products of J and of the curvature of F alone (T. Bui-Thanh et al. 2013,
// doi:10.1137/12089586X).
#pragma once
#include "tessera/inversion/nuts.h"
#include "tessera/inversion/posterior.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace tessera::inversion {

class SparseFactor;

struct LowRankOptions {
  Hessian hessian = Hessian::exact;
  /// Eigenvalues of A below this in magnitude are left out: each of them changes a variance by
  /// less than this part.
  double smallest = 0.01;
  double tolerance = 1e-6;  ///< of an eigenpair's residual, beside 1 + its eigenvalue
  std::size_t most = 1000;  ///< products; all parameters where these are fewer
  data::RandomKey key;      ///< of the first vector
};

/// N(mean, H^-1).
struct LowRankPosterior {
  std::vector<double> mean;
  std::vector<double> eigenvalue;  ///< of A, falling in magnitude
  Matrix vectors;                  ///< [n, rank], w of each, orthonormal
  double log_determinant = 0;      ///< of H
  bool exact_hessian = true;       ///< false: 1 + A was not positive, and Gauss-Newton's was taken
  bool converged = true;           ///< false: `most` products did not find all above `smallest`
  std::size_t products = 0;
  std::shared_ptr<const SparseFactor> prior;

  std::vector<double> covariance_times(const std::vector<double>& x) const;  ///< H^-1 x
  /// H^-1/2 xi, of covariance H^-1 for standard normal xi [n].
  std::vector<double> draw(const std::vector<double>& xi) const;
  std::vector<double> standard_deviation() const;  ///< sqrt of the diagonal of H^-1
  /// Standard deviations of rows of B m, B [rows, n].
  std::vector<double> standard_deviation(const SparseMatrix& b) const;
};
/// Fixed parameters keep variances of 0. The map needs products or numbers of its Jacobian, and
/// with Hessian::exact of its curvature.
LowRankPosterior low_rank_laplace(const InverseProblem& problem, const GaussianPrior& prior,
                                  const std::vector<double>& optimum,
                                  const LowRankOptions& options = {});

/// Of its numbers again, as a checkpoint keeps them, with the prior that it was made with.
LowRankPosterior low_rank_posterior(const GaussianPrior& prior, std::vector<double> mean,
                                    std::vector<double> eigenvalue, Matrix vectors);

/// As low_rank_laplace with the mean of Gauss-Newton's precisions at the optimum and at `draws` of
/// the posterior given. Where a density is curved, what is narrow turns from place to place: as a
/// mass this lets steps be as long as the narrowest part of all that it has seen, not of the
/// optimum's.
LowRankPosterior mean_over_draws(const InverseProblem& problem, const GaussianPrior& prior,
                                 const LowRankPosterior& posterior, int draws,
                                 const LowRankOptions& options = {});

/// What chains from an optimum take as their mass: mean_over_draws with 12 draws of Laplace's
/// posterior there, in directions whose variance data lower by 5 % and more.
LowRankPosterior mass_of_chains(const InverseProblem& problem, const GaussianPrior& prior,
                                const std::vector<double>& optimum, data::RandomKey key = {});

/// H^-1 as an inverse mass.
Metric metric_of(const LowRankPosterior& posterior);
Metric metric_of(const Posterior& posterior);  ///< from its precision

/// -Phi / 2 of a problem. With parameters fixed Throws tessera::Error: leave them out of the map.
LogDensity log_density(const InverseProblem& problem, const GaussianPrior& prior);

}  // namespace tessera::inversion
