// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/inversion/gauss_newton.h"

#include <vector>

namespace tessera::inversion {

/// Gaussian approximation of the posterior exp(-Phi/2) at the model of least Phi (Laplace).
struct Posterior {
  std::vector<double> mean;  ///< the optimum itself
  std::vector<double>
      standard_deviation;  ///< sqrt of the diagonal of the covariance; 0 where fixed
  Matrix precision;  ///< half the Hessian of Phi; identity rows where fixed; empty in data space
  double log_determinant = 0;  ///< of it
  bool exact_hessian = true;   ///< false: the exact one was indefinite and Gauss-Newton's was taken
};

/// The Gauss-Newton matrix is singular: the prior is not proper, or errors of the data are so small
/// that the prior is lost in the rounding of J^T W J.
struct SingularPosterior : Error {
  using Error::Error;
};

/// Half the Hessian of Phi: J^T C J - sum_i (loss'(r_i) / (2 sigma_i)) d2F_i + precision, with
/// C = diag(loss''(r_i) / 2) / sigma^2. Where it is not positive definite the Gauss-Newton matrix
/// J^T W J + precision takes its place and `exact_hessian` is false; so it is when asked for. In
/// data space the latter is asked for, and no matrix of the parameters is made; the exact one
/// throws tessera::Error there. Throws SingularPosterior.
enum class Hessian { exact, gauss_newton };
Posterior laplace(const InverseProblem& problem, const GaussianPrior& prior,
                  const std::vector<double>& optimum, Hessian hessian = Hessian::exact,
                  NormalEquations equations = NormalEquations::model_space);

/// Half width of the central interval of a standard normal with the given probability, e.g.
/// 0.6745 for 0.5 and 1.6449 for 0.9.
double normal_half_width(double probability);

}  // namespace tessera::inversion
