// SPDX-License-Identifier: Apache-2.0
//
// A smooth model and one of learnt priors side by side, and whether the data bear the prior out.
//
//   const LearntResult r = invert_learnt(problem, model, prior, smooth.m, options);
//   for (const std::string& doubt : doubts_of(r, options.held_out)) ...
#pragma once
#include "tessera/data/random.h"
#include "tessera/inversion/gauss_newton.h"
#include "tessera/inversion/learnt_model.h"
#include "tessera/inversion/prior_calibration.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::inversion {

/// A place to start from, with what it costs there: the nearest minimum of codes and pixels where
/// the physics is replaced by its tangent at the smooth model.
struct LearntStart {
  std::string name;  ///< "zero", "smooth", "draw 3"
  std::vector<double> x;
  double objective = 0;
};

/// What a section costs a datum, misfit and penalty together: its mean and its variance.
struct ExpectedCost {
  double mean = 1, variance = 0;
};

struct LearntOptions {
  /// Its max_iterations are those of all rounds together. A step is what has a Jacobian: one of
  /// Gauss-Newton, or a start that the tangent tells of.
  GaussNewtonOptions newton;
  /// By this errors are too small, as the RMS of a smooth section tells: what a step or a round has
  /// to gain in Phi is its square times more.
  double error_scale = 1;
  int draws = 4;  ///< starts whose codes are drawn from N(0, 1)
  /// Where a search with the same model and data ended whose physics were coarser: this one goes on
  /// there, instead of from the cheapest start.
  std::optional<LearntStart> from;
  /// How often the starts are tried again with the tangent at the minimum that was found; where one
  /// of them costs less, the search goes on from there.
  int rounds = 1;
  /// Of each generator, of one number of sections: what earths of the prior's kind may cost is told
  /// from them. Empty: nothing is.
  std::vector<HeldOut> held_out;
  /// Draws of the posterior, at the tangent of the minimum, that its mean is taken over; 0: no
  /// mean.
  int posterior_draws = 0;
  data::RandomKey key;
  /// Told of each step when it is taken.
  std::function<void(const Iteration&)> on_step;
};

struct LearntResult : GaussNewtonResult {  ///< its m is x = (p, z_1, z_2, ...)
  std::vector<double> cells;               ///< ln ohm m
  std::vector<LearntStart> starts;         ///< in the order tried; the cheapest was taken first
  std::size_t start = 0;
  std::vector<double> code_norm;  ///< of each generator: the mean of z^2
  double codes_cost = 0;          ///< |z|^2
  double pixels_cost = 0;         ///< their part of the penalty
  /// The mean of ln rho over draws of the posterior: of all models the one that is expected to be
  /// least wrong, where the minimum is one of many that fit as well. Empty without draws.
  std::vector<double> mean;
  double mean_rms = 0;  ///< of the data that it predicts, of squares whatever the loss is
  std::size_t n_data = 0;
  /// What earths of the prior's kind cost that have codes and errors of decoders as each of the
  /// held-out sections has, linear around the minimum.
  std::vector<ExpectedCost> expected;
  /// Root mean square difference to the smooth model, decades, each cell by the share that
  /// generators have in it; NaN where there is no smooth one.
  double from_smooth = 0;
};

/// `problem` is that of the cells, none of them fixed, `prior` that of x (LearntModel::prior).
/// Codes start from zero, from what generators say of the smooth model (ln ohm m of cells, or
/// empty), and from draws; pixels from their mean. Iterations are the steps: the first is the
/// start, by the Jacobian of the smooth model, or of zero codes; none where a search goes on
/// (`from`). Throws Error where cells are fixed.
LearntResult invert_learnt(const InverseProblem& problem, const LearntModel& model,
                           const GaussianPrior& prior, const std::vector<double>& smooth,
                           const LearntOptions& options = {});

/// Why a prior may not be that of this earth, a sentence each; empty: nothing speaks against it.
/// Under the right prior the objective at its minimum, misfit and penalty, is chi-squared of as
/// many numbers as there are data where F and D are linear and errors of D are those that the prior
/// has, however many parameters fit them. Held-out sections say what codes and errors of D are
/// like, and so what earths may cost (`expected`; chi-squared where there are none): one in 500 of
/// the prior's kind is doubted. And codes are no larger than theirs; `held_out` are those of the
/// search.
std::vector<std::string> doubts_of(const LearntResult& result,
                                   const std::vector<HeldOut>& held_out);

}  // namespace tessera::inversion
