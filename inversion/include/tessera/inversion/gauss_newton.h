// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/forward_map.h"
#include "tessera/inversion/misfit.h"
#include "tessera/inversion/regularization.h"

#include <string>
#include <vector>

namespace tessera::inversion {

/// Data and physics of one inversion. The objective everywhere in this folder is
///   Phi(m) = sum_i loss((d_i - F_i(m)) / sigma_i) + (m - mean)^T precision (m - mean),
/// twice the negative log-posterior.
struct InverseProblem {
  ForwardMap forward;
  std::vector<double> data;   ///< [n_data]
  std::vector<double> sigma;  ///< [n_data]
  Loss loss;
  std::vector<bool> fixed;  ///< [n_parameters] or empty: these keep their value of the start model
};
/// Throws tessera::Error where sizes disagree or numbers are not finite.
void require_valid(const InverseProblem& problem, const GaussianPrior& prior,
                   const std::vector<double>& start);

/// Why an iteration ended. None of these is an exception.
enum class Reason {
  converged,            ///< the Newton decrement is below the tolerance
  target_reached,       ///< the smoothest model with the wanted RMS was found
  target_not_reached,   ///< even the roughest model tried stays above the wanted RMS
  target_below_bound,   ///< the wanted RMS is below the D+ bound: no 1-D earth can reach it
  iteration_limit,      ///< still moving after max_iterations
  line_search_stalled,  ///< no step along the search direction lowers the objective
  not_finite,           ///< the forward response of the start model is not finite
};
/// A sentence for the log and the user; `word` is the identifier above.
std::string describe(Reason reason);
std::string word(Reason reason);

struct Iteration {
  int number = 0;
  double mu = 0;         ///< roughness weight in force
  double rms = 0;        ///< after the step, with the loss of the problem
  double roughness = 0;  ///< after the step; filled by occam and smooth
  double objective = 0;  ///< Phi after the step
  double step = 0;       ///< length taken of the Gauss-Newton step, 0..1
  double change = 0;     ///< largest change of a parameter
  int forwards = 0;      ///< forward responses computed in the line search
  double plain_rms = 0;  ///< of squares, whatever the loss is; of Gauss-Newton's steps
};

/// How the linear system of a step is solved. All give the same step, to rounding or to
/// `cg_tolerance`.
enum class NormalEquations {
  automatic,    ///< conjugate gradients where there are only products of the Jacobian; model
                ///< space up to 500 parameters or as many as data; else data space
  model_space,  ///< n_parameters^2 numbers
  data_space,   ///< n_data^2, and n_data n_parameters for the Jacobian and as many again
  conjugate_gradients,  ///< products of the Jacobian alone
};

struct GaussNewtonOptions {
  int max_iterations = 40;
  double tolerance = 1e-7;  ///< on the predicted decrease of Phi (Phi is of the order of the data)
  double max_change = 2.0;  ///< no parameter moves further in one step (e^2 in resistivity)
  NormalEquations equations = NormalEquations::automatic;
  double cg_tolerance = 1e-10;  ///< on the residual in front of the prior's covariance, relative
  int cg_iterations = 10000;
};

/// Where an inversion stands between two steps: plain numbers, from which it goes on with the same
/// bits.
struct StepState {
  std::vector<double> m;
  std::vector<double> predicted;  ///< F(m)
  std::vector<Iteration> iterations;
  bool ended = false;
  Reason reason = Reason::iteration_limit;  ///< why, once it has ended
};

struct GaussNewtonResult {
  std::vector<double> m;
  std::vector<double> predicted;  ///< F(m)
  double objective = 0;
  double misfit = 0;  ///< sum of the loss
  double rms = 0;
  Reason reason = Reason::iteration_limit;
  std::vector<Iteration> iterations;
};

/// Minimises Phi by Gauss-Newton steps (J^T W J + precision) dm = -grad / 2 with iterative
/// reweighting for robust losses and a backtracking line search that accepts only a decrease.
GaussNewtonResult gauss_newton(const InverseProblem& problem, const GaussianPrior& prior,
                               const std::vector<double>& start,
                               const GaussNewtonOptions& options = {});

/// The same step by step: while (!state.ended) step_gauss_newton(...). A step makes one Jacobian;
/// the last one may only find that none is left to go.
StepState begin_gauss_newton(const InverseProblem& problem, const GaussianPrior& prior,
                             const std::vector<double>& start);
void step_gauss_newton(const InverseProblem& problem, const GaussianPrior& prior,
                       const GaussNewtonOptions& options, StepState& state);
GaussNewtonResult result_of(const InverseProblem& problem, const GaussianPrior& prior,
                            const StepState& state);

}  // namespace tessera::inversion
