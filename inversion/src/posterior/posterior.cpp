// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/posterior.h"

#include "base/eigen_map.h"
#include "gauss_newton/normal_equations.h"
#include "tessera/autodiff/error.h"

#include <cmath>

namespace tessera::inversion {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Posterior laplace(const InverseProblem& p, const GaussianPrior& prior,
                  const std::vector<double>& optimum, Hessian hessian, NormalEquations equations) {
  require_valid(p, prior, optimum);
  if (hessian == Hessian::exact && equations != NormalEquations::model_space)
    throw Error("[laplace] the exact Hessian is one of model space: ask for that of Gauss-Newton");
  const auto residual = normalised_residual(p.data, p.forward.predict(optimum), p.sigma);
  const Linearization linear(p, optimum, residual, {.equations = equations});
  Posterior out;
  out.mean = optimum;
  out.standard_deviation.resize(optimum.size());
  const auto keep_variances = [&](const VectorXd& variance) {
    for (std::size_t k = 0; k < optimum.size(); ++k) {
      const bool fixed = !p.fixed.empty() && p.fixed[k];
      out.standard_deviation[k] = fixed ? 0.0 : std::sqrt(variance[static_cast<Index>(k)]);
    }
  };
  if (linear.equations() != NormalEquations::model_space) {
    out.exact_hessian = false;
    out.log_determinant = linear.log_determinant(prior);
    keep_variances(linear.variances(prior));
    return out;
  }
  const auto n = static_cast<Index>(optimum.size());
  MatrixXd h;
  Eigen::LLT<MatrixXd> factor;
  out.exact_hessian = hessian == Hessian::exact;
  if (out.exact_hessian) {
    // loss'' in place of the reweighted least squares of Gauss-Newton, and the curvature of F.
    VectorXd instead(static_cast<Index>(residual.size()));
    std::vector<double> y(residual.size());
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const double r = residual[i];
      instead[static_cast<Index>(i)] = p.loss.newton_weight(r) / p.loss.weight(r);
      y[i] = p.loss.weight(r) * r / p.sigma[i];
    }
    const Matrix of_forward = dense(curvature(p.forward, optimum, y));
    h = linear.gram(instead) - view(of_forward);
    const SparseMatrix& q = prior.precision;
    for (std::size_t i = 0; i < q.rows; ++i)
      for (auto k = static_cast<std::size_t>(q.offsets[i]);
           k < static_cast<std::size_t>(q.offsets[i + 1]); ++k)
        h(static_cast<Index>(i), q.columns[k]) += q.values[k];
    h = (0.5 * (h + h.transpose())).eval();
    for (std::size_t k = 0; k < p.fixed.size(); ++k) {
      if (!p.fixed[k]) continue;
      const auto i = static_cast<Index>(k);
      h.row(i).setZero();
      h.col(i).setZero();
      h(i, i) = 1;
    }
    factor.compute(h);
    out.exact_hessian = factor.info() == Eigen::Success;
  }
  if (!out.exact_hessian) {
    h = linear.hessian(prior);
    factor.compute(h);
  }
  if (factor.info() != Eigen::Success)
    throw SingularPosterior(
        "[laplace] the Gauss-Newton matrix is singular: the prior is not proper, or lost in the "
        "rounding of data of very small errors");
  out.precision = to_matrix(h);
  out.log_determinant = 2 * factor.matrixLLT().diagonal().array().log().sum();
  keep_variances(factor.solve(MatrixXd::Identity(n, n)).diagonal());
  return out;
}

double normal_half_width(double probability) {
  if (!(probability > 0 && probability < 1)) throw Error("[normal_half_width] needs 0 < p < 1");
  double lo = 0, hi = 40;  // erf is monotone; 200 halvings reach the last bit
  for (int k = 0; k < 200; ++k) {
    const double mid = 0.5 * (lo + hi);
    (std::erf(mid / std::sqrt(2.0)) < probability ? lo : hi) = mid;
  }
  return 0.5 * (lo + hi);
}

}  // namespace tessera::inversion
