// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/regularization.h"

#include "base/sparse_factor.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Rows scaled so that |D m|^2 is the integral of the squared first or second derivative.
SparseMatrix roughening(const std::vector<double>& x, int order) {
  const std::size_t n = x.size(), rows = n - std::min(n, static_cast<std::size_t>(order));
  std::vector<Entry> d;
  for (std::size_t j = 0; j < rows; ++j) {
    if (order == 1) {
      const double h = x[j + 1] - x[j];
      d.push_back({j, j, -1 / std::sqrt(h)});
      d.push_back({j, j + 1, 1 / std::sqrt(h)});
    } else {
      const double a = x[j + 1] - x[j], b = x[j + 2] - x[j + 1], w = std::sqrt(2 * (a + b));
      const double first = w / (a * (a + b));  // 2/(a(a+b)) from the difference, sqrt((a+b)/2)
      const double last = w / (b * (a + b));   // from dx
      d.push_back({j, j, first});
      d.push_back({j, j + 1, -first - last});
      d.push_back({j, j + 2, last});
    }
  }
  return sparse(rows, n, std::move(d));
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
  return d.dot(times(precision, d));
}

double SmoothPrior::correlation_decades(double mu) const {
  return std::max(shortest_decades, 2 * mu * std_ln_rho * std_ln_rho);
}

double SmoothPrior::standard_deviation(double mu) const {
  return std::sqrt(correlation_decades(mu) / (2 * mu));
}

GaussianPrior SmoothPrior::at(double mu) const {
  require(*this);
  const std::size_t n = mean.size();
  const std::vector<double>& x = log10_depth;
  std::vector<Entry> q;
  if (order == 1) {
    const double l = correlation_decades(mu), s2 = l / (2 * mu);
    // The first value has the stationary variance; each next is an innovation.
    q.push_back({0, 0, 1 / s2});
    for (std::size_t j = 0; j + 1 < n; ++j) {
      const double step = x[j + 1] - x[j], phi = std::exp(-step / l),
                   w = -1 / (s2 * std::expm1(-2 * step / l));
      q.push_back({j, j, phi * phi * w});
      q.push_back({j + 1, j + 1, w});
      q.push_back({j, j + 1, -phi * w});
      q.push_back({j + 1, j, -phi * w});
    }
  } else {
    const SparseMatrix d = roughening(x, 2);
    for (std::size_t row = 0; row < d.rows; ++row)
      for (auto a = static_cast<std::size_t>(d.offsets[row]);
           a < static_cast<std::size_t>(d.offsets[row + 1]); ++a)
        for (auto b = static_cast<std::size_t>(d.offsets[row]);
             b < static_cast<std::size_t>(d.offsets[row + 1]); ++b)
          q.push_back({static_cast<std::size_t>(d.columns[a]),
                       static_cast<std::size_t>(d.columns[b]), mu * d.values[a] * d.values[b]});
    const double length = x.back() - x.front();
    for (std::size_t j = 0; j < n; ++j) {
      const double left = x[j == 0 ? 0 : j - 1], right = x[j + 1 == n ? j : j + 1];
      q.push_back({j, j,
                   length > 0 ? 0.5 * (right - left) / length / (std_ln_rho * std_ln_rho)
                              : 1 / (std_ln_rho * std_ln_rho)});
    }
  }
  return {mean, sparse(n, n, std::move(q))};
}

double SmoothPrior::roughness(const std::vector<double>& m) const {
  require(*this);
  if (m.size() < mean.size()) throw Error("[SmoothPrior] the model is shorter than the prior");
  const VectorXd d = view(m).head(static_cast<Index>(mean.size())) - view(mean);
  return times(roughening(log10_depth, order), d).squaredNorm();
}

namespace {

double least_of(const GaussianPrior& prior, const SparseFactor& factor,
                const std::vector<bool>& fixed, const std::vector<double>& m) {
  VectorXd d = VectorXd::Zero(static_cast<Index>(prior.size()));  // of the fixed from their means
  for (std::size_t k = 0; k < fixed.size(); ++k)
    if (fixed[k]) d[static_cast<Index>(k)] = m[k] - prior.mean[k];
  VectorXd g = times(prior.precision, d);
  const double alone = d.dot(g);
  for (std::size_t k = 0; k < fixed.size(); ++k)
    if (fixed[k]) g[static_cast<Index>(k)] = 0;
  return alone - g.dot(VectorXd(factor.solve(g)));
}

}  // namespace

double least_penalty(const GaussianPrior& prior, const std::vector<bool>& fixed,
                     const std::vector<double>& m) {
  return least_of(prior, SparseFactor(prior.precision, fixed, "least_penalty"), fixed, m);
}

double log_normalization(const GaussianPrior& prior, const std::vector<bool>& fixed,
                         const std::vector<double>& m) {
  const SparseFactor factor(prior.precision, fixed, "log_normalization");
  return factor.log_determinant() + least_of(prior, factor, fixed, m);
}

std::vector<double> draw(const GaussianPrior& prior, const std::vector<double>& xi) {
  const SparseFactor factor(prior.precision, {}, "draw");
  return to_vector(view(prior.mean) + factor.half_solve(view(xi)));
}

GaussianPrior append(GaussianPrior prior, double mean, double standard_deviation) {
  if (!(standard_deviation > 0)) throw Error("[append] needs a standard deviation > 0");
  const std::size_t n = prior.size();
  SparseMatrix& q = prior.precision;
  q.columns.push_back(static_cast<std::int32_t>(n));
  q.values.push_back(1 / (standard_deviation * standard_deviation));
  q.offsets.push_back(static_cast<std::int64_t>(q.values.size()));
  q.rows = q.cols = n + 1;
  prior.mean.push_back(mean);
  return prior;
}

}  // namespace tessera::inversion
