// SPDX-License-Identifier: Apache-2.0
// The Gauss-Newton step of one linearization, for any prior: with W the weights of the data,
//   (J^T W J + Q) dm = J^T W r - Q (m - mean).
#pragma once
#include "base/eigen_map.h"
#include "base/sparse_factor.h"
#include "tessera/inversion/gauss_newton.h"

#include <optional>
#include <vector>

namespace tessera::inversion {

/// What is chosen where `automatic` is asked for.
NormalEquations choose_equations(NormalEquations asked, const ForwardMap& forward);

struct NewtonStep {
  Eigen::VectorXd step;
  /// Minus half the directional derivative along it: the decrease of Phi that the quadratic model
  /// promises.
  double decrease = 0;
  std::vector<double> residual;  ///< normalised, of the linearized response after the whole step
};

/// Everything of a linearization that does not depend on the prior is made once.
class Linearization {
 public:
  /// `residual` is the normalised one at m.
  Linearization(const InverseProblem& problem, std::vector<double> m, std::vector<double> residual,
                const GaussNewtonOptions& options);
  /// What of a prior is a multiple of one that all priors asked for share: that of all parameters
  /// but the last `free`, which are tied to none of the others. Only data space takes notice: it is
  /// worked out once.
  struct Scale {
    double factor = 1;
    std::size_t free = 0;
  };
  NewtonStep step(const GaussianPrior& prior, std::optional<Scale> scale = {}) const;
  /// ln det (J^T W J + precision) - ln det precision.
  double log_determinant_ratio(const GaussianPrior& prior, std::optional<Scale> scale = {}) const;
  /// ln det of J^T W J + precision, and the diagonal of its inverse.
  double log_determinant(const GaussianPrior& prior) const;
  Eigen::VectorXd variances(const GaussianPrior& prior) const;
  /// J^T W J + precision, dense, rows and columns of what is fixed as in the identity.
  Eigen::MatrixXd hessian(const GaussianPrior& prior) const;
  /// J^T W diag(factor) J, dense.
  Eigen::MatrixXd gram(const Eigen::VectorXd& factor) const;
  NormalEquations equations() const { return equations_; }

 private:
  struct DataSpace {
    Eigen::MatrixXd b;  ///< Q^-1 J^T W^1/2, [n, n_data]
    /// W^1/2 J b, lower half, of the parameters that are scaled, and of those that are not.
    Eigen::MatrixXd kernel, of_free;
    Scale scale;
  };
  DataSpace data_space(const SparseFactor& q, Scale scale) const;
  /// That of a prior, from the one kept where it may be.
  const DataSpace& kept_data_space(const SparseFactor& q, std::optional<Scale> scale) const;
  Eigen::LLT<Eigen::MatrixXd> data_factor(const DataSpace& d, double factor) const;
  Eigen::VectorXd weighted_times(const Eigen::VectorXd& x) const;             ///< W^1/2 J x
  Eigen::VectorXd weighted_transposed_times(const Eigen::VectorXd& y) const;  ///< its transpose
  void pin(Eigen::VectorXd& v) const;
  void require_numbers(const char* what) const;
  Eigen::Map<const Eigen::MatrixXd> j() const { return view(numbers_); }

  const InverseProblem& problem_;
  GaussNewtonOptions options_;
  std::vector<double> m_, residual_;
  LinearMap jacobian_;  ///< by products; none where there are numbers
  NormalEquations equations_;
  Eigen::VectorXd weight_;             ///< sqrt(w) / sigma
  Eigen::VectorXd weighted_residual_;  ///< sqrt(w) r
  Matrix numbers_;                     ///< W^1/2 J without the columns of what is fixed; or empty
  Eigen::MatrixXd gram_;               ///< j^T j, lower half; model space
  Eigen::VectorXd gradient_;           ///< J^T W r
  mutable std::optional<DataSpace> kept_;  ///< of the first prior, where all are multiples of it
};

}  // namespace tessera::inversion
