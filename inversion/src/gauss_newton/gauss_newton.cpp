// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/gauss_newton.h"

#include "gauss_newton/line_search.h"
#include "gauss_newton/normal_equations.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
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
  SearchState s = evaluate(p, prior, start);
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
    const Linearization linear(p, s.m, s.residual, options);
    const NewtonStep d = linear.step(prior);
    if (!(d.decrease > options.tolerance)) return finish(Reason::converged);
    Iteration row{.number = k};
    const SearchEnd end = search_line(p, prior, d, options, s, row);
    if (end != SearchEnd::moved)
      return finish(end == SearchEnd::at_rounding ? Reason::converged
                                                  : Reason::line_search_stalled);
    result.iterations.push_back(row);
  }
  return finish(Reason::iteration_limit);
}

}  // namespace tessera::inversion
