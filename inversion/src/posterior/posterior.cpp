// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/posterior.h"

#include "base/eigen_map.h"
#include "tessera/autodiff/error.h"

#include <cmath>

namespace tessera::inversion {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void pin(MatrixXd& h, const std::vector<bool>& fixed) {
  for (std::size_t k = 0; k < fixed.size(); ++k) {
    if (!fixed[k]) continue;
    const auto i = static_cast<Index>(k);
    h.row(i).setZero();
    h.col(i).setZero();
    h(i, i) = 1;
  }
}

}  // namespace

Posterior laplace(const InverseProblem& p, const GaussianPrior& prior,
                  const std::vector<double>& optimum, Hessian hessian) {
  require_valid(p, prior, optimum);
  const auto residual = normalised_residual(p.data, p.forward.predict(optimum), p.sigma);
  const Matrix jacobian = p.forward.jacobian(optimum);
  const auto n = static_cast<Index>(optimum.size());
  const auto rows = static_cast<Index>(residual.size());

  VectorXd exact(rows), gauss_newton(rows);
  std::vector<double> y(residual.size());
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double r = residual[i], s = p.sigma[i];
    exact[static_cast<Index>(i)] = p.loss.newton_weight(r) / (s * s);
    gauss_newton[static_cast<Index>(i)] = p.loss.weight(r) / (s * s);
    y[i] = p.loss.weight(r) * r / s;
  }
  const auto j = view(jacobian);
  const auto q = view(prior.precision);
  Posterior out;
  out.mean = optimum;
  MatrixXd h;
  Eigen::LLT<MatrixXd> factor;
  out.exact_hessian = hessian == Hessian::exact;
  if (out.exact_hessian) {
    const Matrix of_forward = p.forward.hessian(optimum, y);
    h = j.transpose() * exact.asDiagonal() * j + q - view(of_forward);
    h = (0.5 * (h + h.transpose())).eval();
    pin(h, p.fixed);
    factor.compute(h);
    out.exact_hessian = factor.info() == Eigen::Success;
  }
  if (!out.exact_hessian) {
    h = j.transpose() * gauss_newton.asDiagonal() * j + q;
    pin(h, p.fixed);
    factor.compute(h);
  }
  if (factor.info() != Eigen::Success)
    throw Error("[laplace] the prior is not proper: the Gauss-Newton matrix is singular");
  const MatrixXd covariance = factor.solve(MatrixXd::Identity(n, n));
  out.precision = to_matrix(h);
  out.standard_deviation.resize(optimum.size());
  for (std::size_t k = 0; k < optimum.size(); ++k) {
    const auto i = static_cast<Index>(k);
    const bool fixed = !p.fixed.empty() && p.fixed[k];
    out.standard_deviation[k] = fixed ? 0.0 : std::sqrt(covariance(i, i));
  }
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
