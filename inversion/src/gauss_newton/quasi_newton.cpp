// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/quasi_newton.h"

#include "gauss_newton/line_search.h"
#include "tessera/autodiff/lbfgs.h"
#include "tessera/autodiff/optimize.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::inversion {
namespace {

/// Half the gradient of the misfit, -J^T W r.
Eigen::VectorXd half_gradient_of_data(const InverseProblem& p, const SearchState& s) {
  std::vector<double> weighted(s.residual.size());
  for (std::size_t i = 0; i < weighted.size(); ++i)
    weighted[i] = p.loss.weight(s.residual[i]) * s.residual[i] / p.sigma[i];
  const std::vector<double> pulled = linearized(p.forward, s.m).transposed_times(weighted);
  return -view(pulled);
}
/// Of Phi: Q (m - mean) more. Priors may change from step to step.
Eigen::VectorXd half_gradient(const InverseProblem& p, const GaussianPrior& prior,
                              const std::vector<double>& m, const Eigen::VectorXd& of_data) {
  Eigen::VectorXd g = times(prior.precision, view(m) - view(prior.mean)) + of_data;
  for (std::size_t k = 0; k < p.fixed.size(); ++k)
    if (p.fixed[k]) g[static_cast<Eigen::Index>(k)] = 0;
  return g;
}

}  // namespace

QuasiNewtonState begin_quasi_newton(const InverseProblem& p, const GaussianPrior& prior,
                                    const std::vector<double>& start) {
  QuasiNewtonState out;
  static_cast<StepState&>(out) = begin_gauss_newton(p, prior, start);
  if (!out.ended)
    out.gradient =
        to_vector(half_gradient_of_data(p, search_state(p, prior, out.m, out.predicted)));
  return out;
}

void step_quasi_newton(const InverseProblem& p, const GaussianPrior& prior,
                       const QuasiNewtonOptions& options, QuasiNewtonState& state) {
  if (state.ended) return;
  const auto end = [&](Reason reason) {
    state.ended = true;
    state.reason = reason;
  };
  if (static_cast<int>(state.iterations.size()) >= options.max_iterations)
    return end(Reason::iteration_limit);
  const SearchState here = search_state(p, prior, state.m, state.predicted);
  const SparseFactor q(prior.precision, p.fixed, "quasi_newton");
  const Eigen::VectorXd g = half_gradient(p, prior, state.m, view(state.gradient));
  Eigen::VectorXd d = -g;
  if (!(g.dot(Eigen::VectorXd(q.solve(g))) / 2 > options.tolerance)) return end(Reason::converged);
  using Vector = Eigen::VectorXd;
  const auto pair = [&](std::size_t k) {
    const Vector s = view(state.moves[k]), y = view(state.bends[k]);
    return std::tuple<Vector, Vector, double>(s, y, 1 / s.dot(y));
  };
  lbfgs_product<double>(
      d, state.moves.size(), pair, [](const Vector& a, const Vector& b) { return a.dot(b); },
      [](Vector& a, double factor, const Vector& b) { a += factor * b; },
      [&](Vector& a) { a = Vector(q.solve(a)); });
  const double slope = 2 * d.dot(g), largest = d.cwiseAbs().maxCoeff();
  if (!(slope < 0)) return end(Reason::line_search_stalled);

  struct Trial {
    double step;
    SearchState at;
    Vector of_data, g;
  };
  std::vector<Trial> tried;
  const auto phi = [&](double a) {
    SearchState at = evaluate(p, prior, to_vector(view(here.m) + a * d));
    if (!std::isfinite(at.objective)) return std::pair(at.objective, std::nan(""));
    Vector of_data = half_gradient_of_data(p, at), at_g = half_gradient(p, prior, at.m, of_data);
    const std::pair<double, double> out(at.objective, 2 * d.dot(at_g));
    tried.push_back({a, std::move(at), std::move(of_data), std::move(at_g)});
    return out;
  };
  const double longest = options.max_change / largest;
  const LineSearchResult found = wolfe_search(phi, here.objective, slope, std::min(1.0, longest),
                                              {.max_step = longest, .max_evaluations = 20});
  const auto taken = std::find_if(tried.begin(), tried.end(),
                                  [&](const Trial& t) { return t.step == found.step; });
  if (taken == tried.end() || !(taken->at.objective < here.objective))
    return end(Reason::line_search_stalled);
  const Vector move = found.step * d, bend = taken->g - g;
  if (move.dot(bend) > 1e-12 * move.norm() * bend.norm()) {
    state.moves.push_back(to_vector(move));
    state.bends.push_back(to_vector(bend));
    if (static_cast<int>(state.moves.size()) > options.memory) {
      state.moves.erase(state.moves.begin());
      state.bends.erase(state.bends.begin());
    }
  }
  state.iterations.push_back({.number = static_cast<int>(state.iterations.size()) + 1,
                              .rms = rms(p.loss, taken->at.residual),
                              .objective = taken->at.objective,
                              .step = found.step,
                              .change = found.step * largest,
                              .forwards = found.evaluations});
  state.m = taken->at.m;
  state.predicted = taken->at.predicted;
  state.gradient = to_vector(taken->of_data);
  if (here.objective - taken->at.objective <= 1e-13 * here.objective) end(Reason::converged);
}

}  // namespace tessera::inversion
