// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "gauss_newton/normal_equations.h"
#include "tessera/inversion/gauss_newton.h"

#include <vector>

namespace tessera::inversion {

/// A model with what is known of it.
struct SearchState {
  std::vector<double> m, predicted, residual;
  double misfit = 0, objective = 0;
};
SearchState search_state(const InverseProblem& p, const GaussianPrior& prior, std::vector<double> m,
                         std::vector<double> predicted);
SearchState evaluate(const InverseProblem& p, const GaussianPrior& prior, std::vector<double> m);

enum class SearchEnd {
  moved,        ///< to a lower objective
  stalled,      ///< no step lowers it
  at_rounding,  ///< nor could any be seen to: it is at its minimum
};

/// Halves the step until Phi falls by a ten-thousandth of what its slope promises (Armijo); `state`
/// moves there and `row` is filled in, all but mu and roughness.
SearchEnd search_line(const InverseProblem& p, const GaussianPrior& prior, const NewtonStep& step,
                      const GaussNewtonOptions& options, SearchState& state, Iteration& row);

}  // namespace tessera::inversion
