// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/regularization.h"

#include "base/eigen_map.h"
#include "tessera/autodiff/error.h"

#include <cmath>

namespace tessera::inversion {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rows scaled so that |D m|^2 is the integral of the squared first or second derivative.
MatrixXd roughening(const std::vector<double>& x, int order) {
  const auto n = static_cast<Index>(x.size());
  const auto at = [&](Index j) { return x[static_cast<std::size_t>(j)]; };
  MatrixXd d = MatrixXd::Zero(std::max<Index>(n - order, 0), n);
  for (Index j = 0; j < d.rows(); ++j) {
    if (order == 1) {
      const double h = at(j + 1) - at(j);
      d(j, j) = -1 / std::sqrt(h);
      d(j, j + 1) = 1 / std::sqrt(h);
    } else {
      const double a = at(j + 1) - at(j), b = at(j + 2) - at(j + 1), w = std::sqrt(2 * (a + b));
      d(j, j) = w / (a * (a + b));  // 2/(a(a+b)) from the difference, sqrt((a+b)/2) from dx
      d(j, j + 2) = w / (b * (a + b));
      d(j, j + 1) = -d(j, j) - d(j, j + 2);
    }
  }
  return d;
}

void require(const SmoothPrior& p) {
  if (p.mean.size() != p.log10_depth.size() || p.mean.empty())
    throw Error("[SmoothPrior] mean and depths differ in length or are empty");
  for (std::size_t j = 1; j < p.log10_depth.size(); ++j)
    if (!(p.log10_depth[j] > p.log10_depth[j - 1])) throw Error("[SmoothPrior] depths must rise");
  if (!(p.std_ln_rho > 0) || !(p.shortest_decades > 0) || (p.order != 1 && p.order != 2))
    throw Error("[SmoothPrior] needs std_ln_rho > 0, shortest_decades > 0 and order 1 or 2");
}

}  // namespace

double GaussianPrior::penalty(const std::vector<double>& m) const {
  const VectorXd d = view(m) - view(mean);
  return d.dot(view(precision) * d);
}

double SmoothPrior::correlation_decades(double mu) const {
  return std::max(shortest_decades, 2 * mu * std_ln_rho * std_ln_rho);
}

double SmoothPrior::standard_deviation(double mu) const {
  return std::sqrt(correlation_decades(mu) / (2 * mu));
}

GaussianPrior SmoothPrior::at(double mu) const {
  require(*this);
  const auto n = static_cast<Index>(mean.size());
  MatrixXd q = MatrixXd::Zero(n, n);
  if (order == 1) {
    const double l = correlation_decades(mu), s2 = l / (2 * mu);
    q(0, 0) = 1 / s2;  // the first value has the stationary variance; each next is an innovation
    for (Index j = 0; j + 1 < n; ++j) {
      const double step =
          log10_depth[static_cast<std::size_t>(j + 1)] - log10_depth[static_cast<std::size_t>(j)];
      const double phi = std::exp(-step / l), w = -1 / (s2 * std::expm1(-2 * step / l));
      q(j, j) += phi * phi * w;
      q(j + 1, j + 1) += w;
      q(j, j + 1) -= phi * w;
      q(j + 1, j) -= phi * w;
    }
  } else {
    const MatrixXd d = roughening(log10_depth, 2);
    const double length = log10_depth.back() - log10_depth.front();
    q = mu * d.transpose() * d;
    for (Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(j);
      const double left = k == 0 ? log10_depth[0] : log10_depth[k - 1];
      const double right = k + 1 == log10_depth.size() ? log10_depth[k] : log10_depth[k + 1];
      q(j, j) += length > 0 ? 0.5 * (right - left) / length / (std_ln_rho * std_ln_rho)
                            : 1 / (std_ln_rho * std_ln_rho);
    }
  }
  return {mean, to_matrix(q)};
}

double SmoothPrior::roughness(const std::vector<double>& m) const {
  require(*this);
  if (m.size() < mean.size()) throw Error("[SmoothPrior] the model is shorter than the prior");
  const VectorXd d = view(m).head(static_cast<Index>(mean.size())) - view(mean);
  return (roughening(log10_depth, order) * d).squaredNorm();
}

double log_normalization(const GaussianPrior& prior, const std::vector<bool>& fixed,
                         const std::vector<double>& m) {
  MatrixXd q = view(prior.precision);
  VectorXd d = VectorXd::Zero(q.rows());  // of the fixed ones from their means
  for (std::size_t k = 0; k < fixed.size(); ++k)
    if (fixed[k]) d[static_cast<Index>(k)] = m[k] - prior.mean[k];
  VectorXd g = q * d;
  double least = d.dot(g);
  for (std::size_t k = 0; k < fixed.size(); ++k) {
    if (!fixed[k]) continue;
    const auto i = static_cast<Index>(k);
    q.row(i).setZero();
    q.col(i).setZero();
    q(i, i) = 1;
    g[i] = 0;
  }
  const Eigen::LLT<MatrixXd> factor(q);
  if (factor.info() != Eigen::Success)
    throw Error("[log_normalization] the prior's precision is not positive definite");
  least -= g.dot(factor.solve(g));
  return 2 * factor.matrixLLT().diagonal().array().log().sum() + least;
}

std::vector<double> draw(const GaussianPrior& prior, const std::vector<double>& xi) {
  const Eigen::LLT<MatrixXd> factor(view(prior.precision));
  if (factor.info() != Eigen::Success)
    throw Error("[draw] the prior's precision is not positive definite");
  return to_vector(view(prior.mean) + factor.matrixU().solve(view(xi)));
}

GaussianPrior append(GaussianPrior prior, double mean, double standard_deviation) {
  if (!(standard_deviation > 0)) throw Error("[append] needs a standard deviation > 0");
  const std::size_t n = prior.size();
  Matrix q(n + 1, n + 1);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) q(i, j) = prior.precision(i, j);
  q(n, n) = 1 / (standard_deviation * standard_deviation);
  prior.precision = std::move(q);
  prior.mean.push_back(mean);
  return prior;
}

}  // namespace tessera::inversion
