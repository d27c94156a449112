// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/low_rank_posterior.h"

#include "base/sparse_factor.h"
#include "tessera/autodiff/error.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::inversion {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Product = std::function<VectorXd(const VectorXd&)>;

struct Eigenpairs {
  VectorXd value;
  MatrixXd vector;
  bool converged = false;
  std::size_t products = 0;
};

/// Those of a symmetric map that are at least `smallest` in magnitude. Lanczos' vectors are made
/// orthogonal to all before, twice; where they span an invariant subspace a new direction goes on,
/// so that nothing that is repeated stays unseen.
Eigenpairs lanczos(const Product& product, Index n, const LowRankOptions& o) {
  const Index most = std::min<Index>(n, static_cast<Index>(o.most));
  MatrixXd v(n, most);
  VectorXd diagonal(most), below = VectorXd::Zero(most);
  std::uint64_t counter = 0;
  const auto fresh = [&](Index have) {
    VectorXd x(n);
    for (Index k = 0; k < n; ++k) x[k] = data::normal(o.key, counter++);
    for (int twice = 0; twice < 2; ++twice)
      x -= v.leftCols(have) * (v.leftCols(have).transpose() * x);
    return VectorXd(x / x.norm());
  };
  if (most == 0) return {.converged = true};
  v.col(0) = fresh(0);
  Eigenpairs out;
  for (Index k = 0; k < most; ++k) {
    VectorXd w = product(v.col(k));
    ++out.products;
    diagonal[k] = v.col(k).dot(w);
    for (int twice = 0; twice < 2; ++twice)
      w -= v.leftCols(k + 1) * (v.leftCols(k + 1).transpose() * w);
    const double left = w.norm();
    const bool last = k + 1 == most;
    if (last || (k + 1) % 10 == 0) {
      Eigen::SelfAdjointEigenSolver<MatrixXd> small;
      small.computeFromTridiagonal(diagonal.head(k + 1), below.head(k));
      const VectorXd& value = small.eigenvalues();
      std::vector<Index> wanted;
      double worst = 0;
      for (Index j = 0; j <= k; ++j) {
        if (std::abs(value[j]) < o.smallest) continue;
        wanted.push_back(j);
        worst = std::max(worst,
                         std::abs(left * small.eigenvectors()(k, j)) / std::max(1.0, 1 + value[j]));
      }
      // All found: those below `smallest` have come, and the rest is settled.
      const bool enough = static_cast<Index>(wanted.size()) <= k && worst <= o.tolerance;
      if (enough || last) {
        std::stable_sort(wanted.begin(), wanted.end(),
                         [&](Index a, Index b) { return std::abs(value[a]) > std::abs(value[b]); });
        out.converged = k + 1 == n || worst <= o.tolerance;
        out.value.resize(static_cast<Index>(wanted.size()));
        out.vector.resize(n, static_cast<Index>(wanted.size()));
        for (std::size_t j = 0; j < wanted.size(); ++j) {
          out.value[static_cast<Index>(j)] = value[wanted[j]];
          out.vector.col(static_cast<Index>(j)) =
              v.leftCols(k + 1) * small.eigenvectors().col(wanted[j]);
        }
        return out;
      }
    }
    const double scale = diagonal.head(k + 1).cwiseAbs().maxCoeff();
    const bool invariant = left <= 1e-13 * scale || left == 0;
    below[k] = invariant ? 0 : left;
    v.col(k + 1) = invariant ? fresh(k + 1) : VectorXd(w / left);
  }
  return out;
}

/// Half the Hessian of the misfit by products.
Product of_misfit(const InverseProblem& p, const std::vector<double>& m, Hessian hessian) {
  const auto residual = normalised_residual(p.data, p.forward.predict(m), p.sigma);
  const LinearMap jacobian = p.forward.linearize && !p.forward.jacobian ? p.forward.linearize(m)
                                                                        : linearized(p.forward, m);
  VectorXd weight(static_cast<Index>(residual.size()));
  std::vector<double> y(residual.size());
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double r = residual[i], s = p.sigma[i];
    weight[static_cast<Index>(i)] =
        (hessian == Hessian::exact ? p.loss.newton_weight(r) : p.loss.weight(r)) / (s * s);
    y[i] = p.loss.weight(r) * r / s;
  }
  const LinearMap second = hessian == Hessian::exact ? curvature(p.forward, m, y) : LinearMap{};
  return [=](const VectorXd& x) {
    const std::vector<double> at = to_vector(x), j = jacobian.times(at);
    const std::vector<double> h =
        jacobian.transposed_times(to_vector(weight.cwiseProduct(view(j))));
    VectorXd out = view(h);
    if (second.times) {
      const std::vector<double> c = second.times(at);
      out -= view(c);
    }
    return out;
  };
}

/// (1 + U f(a) U^T) x
VectorXd low_rank(const LowRankPosterior& p, const VectorXd& x, double (*f)(double)) {
  VectorXd c = view(p.vectors).transpose() * x;
  for (std::size_t k = 0; k < p.eigenvalue.size(); ++k)
    c[static_cast<Index>(k)] *= f(p.eigenvalue[k]);
  return x + view(p.vectors) * c;
}
double of_inverse(double a) { return -a / (1 + a); }
double of_inverse_root(double a) { return 1 / std::sqrt(1 + a) - 1; }
double of_root(double a) { return std::sqrt(1 + a) - 1; }

}  // namespace

std::vector<double> LowRankPosterior::covariance_times(const std::vector<double>& x) const {
  const VectorXd w = low_rank(*this, prior->half_solve_transposed(view(x)), of_inverse);
  return to_vector(prior->half_solve(w));
}
std::vector<double> LowRankPosterior::draw(const std::vector<double>& xi) const {
  return to_vector(prior->half_solve(low_rank(*this, view(xi), of_inverse_root)));
}

std::vector<double> LowRankPosterior::standard_deviation(const SparseMatrix& b) const {
  if (b.cols != mean.size()) throw Error("[LowRankPosterior] the matrix does not fit");
  std::vector<double> out(b.rows), row(b.cols);
  for (std::size_t i = 0; i < b.rows; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (auto k = static_cast<std::size_t>(b.offsets[i]);
         k < static_cast<std::size_t>(b.offsets[i + 1]); ++k)
      row[static_cast<std::size_t>(b.columns[k])] = b.values[k];
    const VectorXd w = prior->half_solve_transposed(view(row));
    out[i] = std::sqrt(std::max(0.0, w.dot(low_rank(*this, w, of_inverse))));
  }
  return out;
}
std::vector<double> LowRankPosterior::standard_deviation() const {
  std::vector<double> ones(mean.size(), 1.0);
  std::vector<double> out = standard_deviation(sparse_diagonal(ones));
  return out;
}

LowRankPosterior low_rank_laplace(const InverseProblem& p, const GaussianPrior& prior,
                                  const std::vector<double>& optimum,
                                  const LowRankOptions& options) {
  require_valid(p, prior, optimum);
  LowRankPosterior out;
  out.mean = optimum;
  const auto factor = std::make_shared<const SparseFactor>(prior.precision, p.fixed, "laplace");
  out.prior = factor;
  const auto n = static_cast<Index>(optimum.size());
  const auto pin = [&](VectorXd v) {
    for (std::size_t k = 0; k < p.fixed.size(); ++k)
      if (p.fixed[k]) v[static_cast<Index>(k)] = 0;
    return v;
  };
  const auto pairs_of = [&](Hessian hessian) {
    const Product of_data = of_misfit(p, optimum, hessian);
    return lanczos(
        [&](const VectorXd& w) {
          return factor->half_solve_transposed(pin(of_data(pin(factor->half_solve(w)))));
        },
        n, options);
  };
  Eigenpairs found = pairs_of(options.hessian);
  out.products = found.products;
  out.exact_hessian = options.hessian == Hessian::exact;
  if (out.exact_hessian && (found.value.array() <= -1).any()) {
    found = pairs_of(Hessian::gauss_newton);
    out.products += found.products;
    out.exact_hessian = false;
  }
  out.converged = found.converged;
  out.eigenvalue = to_vector(found.value);
  out.vectors = to_matrix(found.vector);
  out.log_determinant = factor->log_determinant() + found.value.array().log1p().sum();
  return out;
}

LowRankPosterior low_rank_posterior(const GaussianPrior& prior, std::vector<double> mean,
                                    std::vector<double> eigenvalue, Matrix vectors) {
  if (mean.size() != prior.size() || vectors.rows != mean.size() ||
      vectors.cols != eigenvalue.size())
    throw Error("[low_rank_posterior] the numbers belong to another prior");
  const auto factor = std::make_shared<const SparseFactor>(prior.precision, std::vector<bool>(),
                                                           "low_rank_posterior");
  LowRankPosterior out{
      .mean = std::move(mean), .eigenvalue = std::move(eigenvalue), .vectors = std::move(vectors)};
  out.log_determinant = factor->log_determinant() + view(out.eigenvalue).array().log1p().sum();
  out.prior = factor;
  return out;
}

LowRankPosterior mean_over_draws(const InverseProblem& p, const GaussianPrior& prior,
                                 const LowRankPosterior& posterior, int draws,
                                 const LowRankOptions& options) {
  LowRankOptions o = options;
  o.hessian = Hessian::gauss_newton;
  const auto n = static_cast<Index>(posterior.mean.size());
  LowRankPosterior out = posterior;
  out.exact_hessian = false;
  MatrixXd roots(n, 0);  // A = roots roots^T, Gauss-Newton's are not negative
  std::uint64_t counter = 0;
  for (int d = 0; d <= draws; ++d) {
    std::vector<double> x = posterior.mean;
    if (d > 0) {
      std::vector<double> xi(x.size());
      for (double& v : xi) v = data::normal({options.key.seed, ~options.key.stream}, counter++);
      const std::vector<double> away = posterior.draw(xi);
      for (std::size_t k = 0; k < x.size(); ++k)
        if (p.fixed.empty() || !p.fixed[k]) x[k] += away[k];
    }
    const LowRankPosterior here = low_rank_laplace(p, prior, x, o);
    out.products += here.products;
    out.converged = out.converged && here.converged;
    const auto rank = static_cast<Index>(here.eigenvalue.size());
    MatrixXd more(n, roots.cols() + rank);
    more << roots, view(here.vectors) *
                       (view(here.eigenvalue) / (1.0 + draws)).cwiseMax(0).cwiseSqrt().asDiagonal();
    roots = std::move(more);
  }
  // Eigenpairs of the sum, of the smaller of the two Gram matrices: none where data say nothing.
  const bool by_rows = roots.rows() <= roots.cols();
  const MatrixXd gram =
      by_rows ? MatrixXd(roots * roots.transpose()) : MatrixXd(roots.transpose() * roots);
  Eigen::SelfAdjointEigenSolver<MatrixXd> e;
  if (gram.size() > 0) e.compute(gram);
  std::vector<Index> kept;
  for (Index k = gram.rows(); k-- > 0;)
    if (e.eigenvalues()[k] >= options.smallest) kept.push_back(k);
  out.eigenvalue.clear();
  out.vectors = Matrix(posterior.mean.size(), kept.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const double a = e.eigenvalues()[kept[k]];
    out.eigenvalue.push_back(a);
    const VectorXd v = e.eigenvectors().col(kept[k]);
    view(out.vectors).col(static_cast<Index>(k)) = by_rows ? v : VectorXd(roots * v / std::sqrt(a));
  }
  out.log_determinant =
      posterior.prior->log_determinant() + view(out.eigenvalue).array().log1p().sum();
  return out;
}

LowRankPosterior mass_of_chains(const InverseProblem& problem, const GaussianPrior& prior,
                                const std::vector<double>& optimum, data::RandomKey key) {
  const LowRankOptions o{
      .hessian = Hessian::gauss_newton, .smallest = 0.05, .tolerance = 1e-3, .key = key};
  return mean_over_draws(problem, prior, low_rank_laplace(problem, prior, optimum, o), 12, o);
}

Metric metric_of(const LowRankPosterior& posterior) {
  const auto p = std::make_shared<const LowRankPosterior>(posterior);
  return {[p](const std::vector<double>& x) { return p->covariance_times(x); },
          [p](const std::vector<double>& xi) {
            return to_vector(p->prior->half_times(low_rank(*p, view(xi), of_root)));
          }};
}

Metric metric_of(const Posterior& posterior) {
  const auto factor = std::make_shared<Eigen::LLT<MatrixXd>>(view(posterior.precision));
  if (posterior.precision.values.empty() || factor->info() != Eigen::Success)
    throw Error("[metric_of] the posterior has no positive definite precision");
  return {
      [factor](const std::vector<double>& x) { return to_vector(factor->solve(view(x))); },
      [factor](const std::vector<double>& xi) { return to_vector(factor->matrixL() * view(xi)); }};
}

LogDensity log_density(const InverseProblem& problem, const GaussianPrior& prior) {
  require_valid(problem, prior, prior.mean);
  if (std::find(problem.fixed.begin(), problem.fixed.end(), true) != problem.fixed.end())
    throw Error("[log_density] parameters that are fixed belong into the map");
  const auto p = std::make_shared<const InverseProblem>(problem);
  const auto q = std::make_shared<const GaussianPrior>(prior);
  return {prior.size(), [p, q](const std::vector<double>& m, std::vector<double>& gradient) {
            const PulledBack at = pulled_back(p->forward, m);
            const auto residual = normalised_residual(p->data, at.value, p->sigma);
            const double phi = misfit(p->loss, residual) + q->penalty(m);
            if (!std::isfinite(phi)) {
              std::fill(gradient.begin(), gradient.end(), 0.0);
              return -std::numeric_limits<double>::infinity();
            }
            std::vector<double> y(residual.size());
            for (std::size_t i = 0; i < y.size(); ++i)
              y[i] = p->loss.weight(residual[i]) * residual[i] / p->sigma[i];
            gradient = at.pull(y);
            const VectorXd pull = times(q->precision, view(m) - view(q->mean));
            view(gradient) -= pull;
            return -0.5 * phi;
          }};
}

}  // namespace tessera::inversion
