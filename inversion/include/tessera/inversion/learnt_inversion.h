// SPDX-License-Identifier: Apache-2.0
//
// A smooth model and one of learnt priors side by side, and whether the data bear the prior out.
//
//   const LearntResult r = invert_learnt(problem, model, prior, smooth.m, options);
//   for (const std::string& doubt : doubts_of(r, what_held_out_sections_show)) ...
#pragma once
#include "tessera/data/random.h"
#include "tessera/inversion/gauss_newton.h"
#include "tessera/inversion/learnt_model.h"
#include "tessera/inversion/prior_calibration.h"

#include <string>
#include <vector>

namespace tessera::inversion {

/// A place to start from, with what it costs there.
struct LearntStart {
  std::string name;  ///< "zero", "smooth", "draw 3"
  std::vector<double> x;
  double objective = 0;
};

struct LearntOptions {
  GaussNewtonOptions newton;
  int draws = 4;  ///< starts whose codes are drawn from N(0, 1)
  data::RandomKey key;
};

struct LearntResult : GaussNewtonResult {  ///< its m is x = (p, z_1, z_2, ...)
  std::vector<double> cells;               ///< ln ohm m
  std::vector<LearntStart> starts;         ///< in the order tried; the cheapest was taken
  std::size_t start = 0;
  std::vector<double> code_norm;  ///< of each generator: the mean of z^2
  double codes_cost = 0;          ///< |z|^2
  double pixels_cost = 0;         ///< their part of the penalty
  std::size_t n_data = 0;
  /// Root mean square difference to the smooth model, decades, each cell by the share that
  /// generators have in it; NaN where there is no smooth one.
  double from_smooth = 0;
};

/// `problem` is that of the cells, `prior` that of x (LearntModel::prior). Codes start from zero,
/// from what generators say of the smooth model (ln ohm m of cells, or empty), and from draws;
/// pixels from their mean.
LearntResult invert_learnt(const InverseProblem& problem, const LearntModel& model,
                           const GaussianPrior& prior, const std::vector<double>& smooth,
                           const LearntOptions& options = {});

/// Why a prior may not be that of this earth, a sentence each; empty: nothing speaks against it.
/// Under the right prior the objective at its minimum, misfit and penalty, is about chi-squared of
/// as many numbers as there are data (exactly so where F and D are linear), however many parameters
/// fit them; and codes are no larger than those of held-out sections.
std::vector<std::string> doubts_of(const LearntResult& result, const PriorCalibration& calibration);

}  // namespace tessera::inversion
