// SPDX-License-Identifier: Apache-2.0
#include "gauss_newton/line_search.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

SearchState search_state(const InverseProblem& p, const GaussianPrior& prior, std::vector<double> m,
                         std::vector<double> predicted) {
  SearchState s;
  s.predicted = std::move(predicted);
  s.residual = normalised_residual(p.data, s.predicted, p.sigma);
  s.misfit = misfit(p.loss, s.residual);
  s.objective = s.misfit + prior.penalty(m);
  s.m = std::move(m);
  return s;
}

SearchState evaluate(const InverseProblem& p, const GaussianPrior& prior, std::vector<double> m) {
  std::vector<double> predicted = p.forward.predict(m);
  return search_state(p, prior, std::move(m), std::move(predicted));
}

SearchEnd search_line(const InverseProblem& p, const GaussianPrior& prior, const NewtonStep& d,
                      const GaussNewtonOptions& options, SearchState& s, Iteration& row) {
  const double largest = d.step.cwiseAbs().maxCoeff();
  double step = std::min(1.0, options.max_change / largest);
  SearchState trial;
  // Phi(m + a step) = Phi - 2 a decrease + a^2 decrease in the quadratic model.
  for (bool accepted = false; !accepted; step *= accepted ? 1.0 : 0.5) {
    if (step < 1e-6) return SearchEnd::stalled;
    trial = evaluate(p, prior, to_vector(view(s.m) + step * d.step));
    ++row.forwards;
    accepted = trial.objective <= s.objective - 1e-4 * step * d.decrease;
    // At working precision of Phi no decrease can be seen any more.
    if (!accepted && d.decrease < 1e-12 * s.objective) return SearchEnd::at_rounding;
  }
  s = std::move(trial);
  row.rms = rms(p.loss, s.residual);
  row.plain_rms = rms({}, s.residual);
  row.objective = s.objective;
  row.step = step;
  row.change = step * largest;
  return SearchEnd::moved;
}

}  // namespace tessera::inversion
