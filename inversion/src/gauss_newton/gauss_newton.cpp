// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/gauss_newton.h"

#include "base/eigen_map.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct State {
  std::vector<double> m, predicted, residual;
  double misfit = 0, objective = 0;
};

State evaluate(const InverseProblem& p, const GaussianPrior& prior, std::vector<double> m) {
  State s;
  s.predicted = p.forward.predict(m);
  s.residual = normalised_residual(p.data, s.predicted, p.sigma);
  s.misfit = misfit(p.loss, s.residual);
  s.objective = s.misfit + prior.penalty(m);
  s.m = std::move(m);
  return s;
}

/// The Gauss-Newton step and minus half the directional derivative along it, which is also the
/// decrease of Phi that the quadratic model promises.
struct Direction {
  VectorXd step;
  double decrease = 0;
};

Direction direction(const InverseProblem& p, const GaussianPrior& prior, const State& s) {
  Matrix jacobian = p.forward.jacobian(s.m);
  auto j = view(jacobian);
  VectorXd r = view(s.residual);
  for (Index i = 0; i < r.size(); ++i) {
    const double w = std::sqrt(p.loss.weight(r[i]));
    j.row(i) *= w / p.sigma[static_cast<std::size_t>(i)];
    r[i] *= w;
  }
  const auto q = view(prior.precision);
  MatrixXd hessian = q;
  hessian.selfadjointView<Eigen::Lower>().rankUpdate(j.transpose());
  VectorXd rhs = j.transpose() * r - q * (view(s.m) - view(prior.mean));
  for (std::size_t k = 0; k < p.fixed.size(); ++k) {
    if (!p.fixed[k]) continue;
    const auto i = static_cast<Index>(k);
    hessian.row(i).setZero();
    hessian.col(i).setZero();
    hessian(i, i) = 1;
    rhs[i] = 0;
  }
  Direction d;
  d.step = hessian.selfadjointView<Eigen::Lower>().llt().solve(rhs);
  d.decrease = d.step.dot(rhs);
  return d;
}

}  // namespace

void require_valid(const InverseProblem& p, const GaussianPrior& prior,
                   const std::vector<double>& start) {
  const std::size_t n = p.forward.n_parameters;
  const auto finite = [](const std::vector<double>& v) {
    return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
  };
  if (start.size() != n || prior.size() != n || prior.precision.rows != n ||
      prior.precision.cols != n || (!p.fixed.empty() && p.fixed.size() != n))
    throw Error("[inversion] start, prior, fixed and forward differ in the number of parameters (" +
                std::to_string(n) + " expected)");
  if (p.data.size() != p.forward.n_data || p.sigma.size() != p.forward.n_data || p.data.empty())
    throw Error("[inversion] data, sigma and forward differ in length");
  if (!finite(start) || !finite(p.data) || !finite(p.sigma) || !finite(prior.precision.values) ||
      std::any_of(p.sigma.begin(), p.sigma.end(), [](double s) { return s <= 0; }))
    throw Error("[inversion] start, data, sigma and prior must be finite and sigma positive");
}

std::string word(Reason reason) {
  switch (reason) {
    case Reason::converged:
      return "converged";
    case Reason::target_reached:
      return "target_reached";
    case Reason::target_not_reached:
      return "target_not_reached";
    case Reason::target_below_bound:
      return "target_below_bound";
    case Reason::iteration_limit:
      return "iteration_limit";
    case Reason::line_search_stalled:
      return "line_search_stalled";
    case Reason::not_finite:
      return "not_finite";
  }
  throw Error("[word] unknown reason");
}

std::string describe(Reason reason) {
  switch (reason) {
    case Reason::converged:
      return "the objective is at its minimum";
    case Reason::target_reached:
      return "the smoothest model with the wanted RMS was found";
    case Reason::target_not_reached:
      return "no model tried comes down to the wanted RMS";
    case Reason::target_below_bound:
      return "the wanted RMS is below the D+ bound: no layered earth can reach it";
    case Reason::iteration_limit:
      return "the iteration limit came first";
    case Reason::line_search_stalled:
      return "no step along the search direction lowers the objective";
    case Reason::not_finite:
      return "the response of the start model is not finite";
  }
  throw Error("[describe] unknown reason");
}

GaussNewtonResult gauss_newton(const InverseProblem& p, const GaussianPrior& prior,
                               const std::vector<double>& start,
                               const GaussNewtonOptions& options) {
  require_valid(p, prior, start);
  GaussNewtonResult result;
  State s = evaluate(p, prior, start);
  const auto finish = [&](Reason reason) {
    result.m = s.m;
    result.predicted = s.predicted;
    result.objective = s.objective;
    result.misfit = s.misfit;
    result.rms = rms(p.loss, s.residual);
    result.reason = reason;
    return result;
  };
  if (!std::isfinite(s.objective)) return finish(Reason::not_finite);

  for (int k = 1; k <= options.max_iterations; ++k) {
    Direction d = direction(p, prior, s);
    if (!(d.decrease > options.tolerance)) return finish(Reason::converged);
    const double largest = d.step.cwiseAbs().maxCoeff();
    double step = std::min(1.0, options.max_change / largest);
    Iteration row{.number = k};
    State trial;
    // Phi(m + a step) = Phi - 2 a decrease + a^2 decrease in the quadratic model.
    for (bool accepted = false; !accepted; step *= accepted ? 1.0 : 0.5) {
      if (step < 1e-6) return finish(Reason::line_search_stalled);
      trial = evaluate(p, prior, to_vector(view(s.m) + step * d.step));
      ++row.forwards;
      accepted = trial.objective <= s.objective - 1e-4 * step * d.decrease;
      // At working precision of Phi no decrease can be seen any more.
      if (!accepted && d.decrease < 1e-12 * s.objective) return finish(Reason::converged);
    }
    s = std::move(trial);
    row.rms = rms(p.loss, s.residual);
    row.objective = s.objective;
    row.step = step;
    row.change = step * largest;
    result.iterations.push_back(row);
  }
  return finish(Reason::iteration_limit);
}

}  // namespace tessera::inversion
