// SPDX-License-Identifier: Apache-2.0
//
// Model space: the matrix H of the parameters, dense. Data space: by Woodbury's identity one of the
// data, S = 1 + W^1/2 J Q^-1 J^T W^1/2, with
//   H^-1 = Q^-1 - Q^-1 J^T W^1/2 S^-1 W^1/2 J Q^-1
// (Siripunvaraporn and Egbert 2000, Geophysics 65, 791). Conjugate gradients: products alone, with
// Q^-1 in front, which makes all but as many eigenvalues one as there are data.
#include "gauss_newton/normal_equations.h"

#include "base/large_products.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

NormalEquations choose_equations(NormalEquations asked, const ForwardMap& forward) {
  if (asked != NormalEquations::automatic) return asked;
  if (!forward.jacobian) return NormalEquations::conjugate_gradients;
  return forward.n_parameters <= std::max<std::size_t>(forward.n_data, 500)
             ? NormalEquations::model_space
             : NormalEquations::data_space;
}

Linearization::Linearization(const InverseProblem& p, std::vector<double> m,
                             std::vector<double> residual, const GaussNewtonOptions& options)
    : problem_(p),
      options_(options),
      m_(std::move(m)),
      residual_(std::move(residual)),
      equations_(choose_equations(options.equations, p.forward)) {
  const auto n = static_cast<Index>(residual_.size());
  weight_.resize(n);
  weighted_residual_.resize(n);
  for (Index i = 0; i < n; ++i) {
    const double r = residual_[static_cast<std::size_t>(i)], w = std::sqrt(p.loss.weight(r));
    weight_[i] = w / p.sigma[static_cast<std::size_t>(i)];
    weighted_residual_[i] = w * r;
  }
  if (equations_ == NormalEquations::conjugate_gradients) {
    jacobian_ = linearized(p.forward, m_);
  } else {
    // [n_data, n_parameters] is most of what is kept: there is one of it, weighted where it is.
    numbers_ = p.forward.jacobian ? p.forward.jacobian(m_) : dense(linearized(p.forward, m_));
    auto j = view(numbers_);
    j.array().colwise() *= weight_.array();
    for (std::size_t k = 0; k < p.fixed.size(); ++k)
      if (p.fixed[k]) j.col(static_cast<Index>(k)).setZero();
  }
  gradient_ = weighted_transposed_times(weighted_residual_);
  if (equations_ == NormalEquations::model_space) {
    gram_ = MatrixXd::Zero(j().cols(), j().cols());
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(j().transpose());
  }
}

void Linearization::pin(VectorXd& v) const {
  for (std::size_t k = 0; k < problem_.fixed.size(); ++k)
    if (problem_.fixed[k]) v[static_cast<Index>(k)] = 0;
}

VectorXd Linearization::weighted_times(const VectorXd& x) const {
  if (!numbers_.values.empty()) return j() * x;
  VectorXd free = x;
  pin(free);
  const std::vector<double> y = jacobian_.times(to_vector(free));
  return weight_.cwiseProduct(view(y));
}

VectorXd Linearization::weighted_transposed_times(const VectorXd& y) const {
  if (!numbers_.values.empty()) return j().transpose() * y;
  const std::vector<double> x = jacobian_.transposed_times(to_vector(weight_.cwiseProduct(y)));
  VectorXd out = view(x);
  pin(out);
  return out;
}

Linearization::DataSpace Linearization::data_space(const SparseFactor& q, Scale scale) const {
  const Index n = j().cols(), free = static_cast<Index>(scale.free);
  DataSpace out{.b = q.solve_transposed(j()), .scale = scale};
  out.kernel = lower_product(j().leftCols(n - free), out.b.topRows(n - free));
  if (free > 0) out.of_free = lower_product(j().rightCols(free), out.b.bottomRows(free));
  return out;
}

const Linearization::DataSpace& Linearization::kept_data_space(const SparseFactor& q,
                                                               std::optional<Scale> scale) const {
  if (!kept_ || !scale) kept_ = data_space(q, scale.value_or(Scale{}));
  return *kept_;
}

Eigen::LLT<MatrixXd> Linearization::data_factor(const DataSpace& d, double factor) const {
  MatrixXd s = factor * d.kernel;
  if (d.of_free.size() > 0) s += d.of_free;
  s.diagonal().array() += 1;
  return Eigen::LLT<MatrixXd>(s);
}

NewtonStep Linearization::step(const GaussianPrior& prior, std::optional<Scale> scale) const {
  const VectorXd away = view(m_) - view(prior.mean);
  VectorXd pull = times(prior.precision, away);
  pin(pull);
  const VectorXd rhs = gradient_ - pull;
  const auto product = [&](const VectorXd& v) {
    VectorXd hv = weighted_transposed_times(weighted_times(v)) + times(prior.precision, v);
    pin(hv);
    return hv;
  };
  NewtonStep out;
  switch (equations_) {
    case NormalEquations::automatic:
    case NormalEquations::model_space: {
      const MatrixXd h = hessian(prior);
      out.step = h.selfadjointView<Eigen::Lower>().llt().solve(rhs);
      break;
    }
    case NormalEquations::data_space: {
      const SparseFactor q(prior.precision, problem_.fixed, "gauss_newton");
      const DataSpace& d = kept_data_space(q, scale);
      const double factor = scale ? d.scale.factor / scale->factor : 1;  // of b and the kernel
      const auto of_data = data_factor(d, factor);
      const Index scaled = rhs.size() - static_cast<Index>(d.scale.free);
      const auto inverse = [&](const VectorXd& right) {
        const VectorXd x = q.solve(right);
        VectorXd correction = d.b * of_data.solve(j() * x);
        correction.head(scaled) *= factor;
        return VectorXd(x - correction);
      };
      out.step = inverse(rhs);
      out.step += inverse(rhs - product(out.step));  // once refined: Q may be as good as singular
      break;
    }
    case NormalEquations::conjugate_gradients: {
      const SparseFactor q(prior.precision, problem_.fixed, "gauss_newton");
      VectorXd x = VectorXd::Zero(rhs.size()), r = rhs, z = q.solve(r), direction = z;
      double rz = r.dot(z);
      // |x - H^-1 rhs|_H <= tolerance sqrt(k) |H^-1 rhs|_H, k the largest eigenvalue of Q^-1 H:
      // 1e-10 leaves a step right to 1e-6 where data outweigh the prior a hundred millionfold.
      const double enough = options_.cg_tolerance * options_.cg_tolerance * rz;
      for (int k = 0; k < options_.cg_iterations && rz > enough; ++k) {
        const VectorXd hd = product(direction);
        const double a = rz / direction.dot(hd);
        x += a * direction;
        r -= a * hd;
        z = q.solve(r);
        const double next = r.dot(z);
        direction = z + next / rz * direction;
        rz = next;
      }
      out.step = x;
      break;
    }
  }
  out.decrease = out.step.dot(rhs);
  const VectorXd change = weighted_times(out.step);
  out.residual.resize(residual_.size());
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    const auto k = static_cast<Index>(i);
    out.residual[i] = residual_[i] - change[k] / (weight_[k] * problem_.sigma[i]);
  }
  return out;
}

MatrixXd Linearization::hessian(const GaussianPrior& prior) const {
  MatrixXd h = gram_;
  if (h.size() == 0) {
    require_numbers("the dense Hessian");
    h = MatrixXd::Zero(j().cols(), j().cols());
    h.selfadjointView<Eigen::Lower>().rankUpdate(j().transpose());
  }
  const SparseMatrix& q = prior.precision;
  const auto fixed = [&](std::size_t k) { return !problem_.fixed.empty() && problem_.fixed[k]; };
  for (std::size_t i = 0; i < q.rows; ++i) {
    if (fixed(i)) {
      h(static_cast<Index>(i), static_cast<Index>(i)) = 1;
      continue;
    }
    for (auto k = static_cast<std::size_t>(q.offsets[i]);
         k < static_cast<std::size_t>(q.offsets[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(q.columns[k]);
      if (j <= i && !fixed(j)) h(static_cast<Index>(i), static_cast<Index>(j)) += q.values[k];
    }
  }
  h.triangularView<Eigen::StrictlyUpper>() = h.transpose();
  return h;
}

MatrixXd Linearization::gram(const VectorXd& factor) const {
  require_numbers("the Hessian");
  return j().transpose() * factor.asDiagonal() * j();
}

void Linearization::require_numbers(const char* what) const {
  if (numbers_.values.empty())
    throw Error(std::string("[inversion] ") + what +
                " needs the numbers of the Jacobian, not only its products");
}

double Linearization::log_determinant(const GaussianPrior& prior) const {
  return SparseFactor(prior.precision, problem_.fixed, "laplace").log_determinant() +
         log_determinant_ratio(prior);
}

double Linearization::log_determinant_ratio(const GaussianPrior& prior,
                                            std::optional<Scale> scale) const {
  require_numbers("the determinant of the Hessian");
  const auto of = [](const Eigen::LLT<MatrixXd>& factor) {
    if (factor.info() != Eigen::Success)
      throw Error("[laplace] the prior is not proper: the Gauss-Newton matrix is singular");
    return 2 * factor.matrixLLT().diagonal().array().log().sum();
  };
  const SparseFactor q(prior.precision, problem_.fixed, "laplace");
  if (equations_ != NormalEquations::data_space)
    return of(Eigen::LLT<MatrixXd>(hessian(prior))) - q.log_determinant();
  const DataSpace& d = kept_data_space(q, scale);
  return of(data_factor(d, scale ? d.scale.factor / scale->factor : 1));
}

VectorXd Linearization::variances(const GaussianPrior& prior) const {
  require_numbers("the covariance");
  const auto n = static_cast<Index>(m_.size());
  if (equations_ != NormalEquations::data_space)
    return hessian(prior).llt().solve(MatrixXd::Identity(n, n)).diagonal();
  const SparseFactor q(prior.precision, problem_.fixed, "laplace");
  const DataSpace d = data_space(q, {});
  const MatrixXd half = data_factor(d, 1).matrixL().solve(d.b.transpose());  // [n_data, n]
  VectorXd out(n);
  constexpr Index at_once = 256;
  for (Index first = 0; first < n; first += at_once) {
    const Index count = std::min(at_once, n - first);
    MatrixXd unit = MatrixXd::Zero(n, count);
    for (Index k = 0; k < count; ++k) unit(first + k, k) = 1;
    const MatrixXd column = q.solve(unit);
    for (Index k = 0; k < count; ++k)
      out[first + k] = column(first + k, k) - half.col(first + k).squaredNorm();
  }
  return out;
}

}  // namespace tessera::inversion
