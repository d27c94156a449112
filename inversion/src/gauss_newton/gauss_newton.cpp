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

StepState begin_gauss_newton(const InverseProblem& p, const GaussianPrior& prior,
                             const std::vector<double>& start) {
  require_valid(p, prior, start);
  SearchState s = evaluate(p, prior, start);
  StepState out{.m = std::move(s.m), .predicted = std::move(s.predicted)};
  out.ended = !std::isfinite(s.objective);
  if (out.ended) out.reason = Reason::not_finite;
  return out;
}

void step_gauss_newton(const InverseProblem& p, const GaussianPrior& prior,
                       const GaussNewtonOptions& options, StepState& state) {
  if (state.ended) return;
  const auto end = [&](Reason reason) {
    state.ended = true;
    state.reason = reason;
  };
  if (static_cast<int>(state.iterations.size()) >= options.max_iterations)
    return end(Reason::iteration_limit);
  SearchState s = search_state(p, prior, state.m, state.predicted);
  const Linearization linear(p, s.m, s.residual, options);
  const NewtonStep d = linear.step(prior);
  if (!(d.decrease > options.tolerance)) return end(Reason::converged);
  Iteration row{.number = static_cast<int>(state.iterations.size()) + 1};
  const SearchEnd found = search_line(p, prior, d, options, s, row);
  if (found != SearchEnd::moved)
    return end(found == SearchEnd::at_rounding ? Reason::converged : Reason::line_search_stalled);
  state.iterations.push_back(row);
  state.m = std::move(s.m);
  state.predicted = std::move(s.predicted);
  if (row.number >= options.max_iterations) end(Reason::iteration_limit);
}

GaussNewtonResult result_of(const InverseProblem& p, const GaussianPrior& prior,
                            const StepState& state) {
  const SearchState s = search_state(p, prior, state.m, state.predicted);
  return {.m = s.m,
          .predicted = s.predicted,
          .objective = s.objective,
          .misfit = s.misfit,
          .rms = rms(p.loss, s.residual),
          .reason = state.reason,
          .iterations = state.iterations};
}

GaussNewtonResult gauss_newton(const InverseProblem& p, const GaussianPrior& prior,
                               const std::vector<double>& start,
                               const GaussNewtonOptions& options) {
  StepState state = begin_gauss_newton(p, prior, start);
  while (!state.ended) step_gauss_newton(p, prior, options, state);
  return result_of(p, prior, state);
}

}  // namespace tessera::inversion
