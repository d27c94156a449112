// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS on the objective of an inverse problem: gradients alone, by products with J^T, for models
// and data so many that a Jacobian is too much. The prior's covariance stands in front, as the
// inverse Hessian of the penalty, so that the pairs only have to learn what the data add.
#pragma once
#include "tessera/inversion/gauss_newton.h"

#include <vector>

namespace tessera::inversion {

struct QuasiNewtonOptions {
  int max_iterations = 200;
  double tolerance = 1e-7;  ///< on g^T Q^-1 g / 2, twice the decrease of Phi that Q alone foretells
  int memory = 10;          ///< pairs kept
  double max_change = 2.0;  ///< no parameter moves further in one step
};
struct QuasiNewtonState : StepState {
  std::vector<double> gradient;  ///< of half the misfit
  std::vector<std::vector<double>> moves,
      bends;  ///< changes of m, and of the gradient; oldest first
};
QuasiNewtonState begin_quasi_newton(const InverseProblem& problem, const GaussianPrior& prior,
                                    const std::vector<double>& start);
/// One direction and a line search for Wolfe's conditions.
void step_quasi_newton(const InverseProblem& problem, const GaussianPrior& prior,
                       const QuasiNewtonOptions& options, QuasiNewtonState& state);

}  // namespace tessera::inversion
