// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/gauss_newton.h"

#include <functional>
#include <optional>
#include <vector>

namespace tessera::inversion {

/// A family of priors by roughness weight, and the roughness itself.
struct Smoothing {
  std::function<GaussianPrior(double mu)> prior;
  std::function<double(const std::vector<double>& m)> roughness;
  /// The precision is mu times one matrix, but for the last `free` parameters, tied to none of the
  /// others, whose precision does not change: data space is made once.
  bool proportional = false;
  std::size_t free = 0;
};

struct OccamOptions {
  double target_rms = 1.0;
  double mu_start = 1e4;  ///< nearly a half-space for data with an RMS of the order of ten
  double mu_smallest = 1e-5;
  double mu_largest = 1e6;
  double largest_fall = 30;  ///< of mu from a step to the next, going down to the target
  int max_iterations = 120;  ///< Gauss-Newton steps in all
  /// Down to the target and on to the smoothest model that has it; else the first that has it,
  /// which is no minimum for its mu.
  bool smoothest = true;
  GaussNewtonOptions newton;  ///< its tolerance times target_rms^2 where that is above 1
};

struct OccamResult : GaussNewtonResult {
  double mu = 0;
};

/// The smoothest model whose RMS is at most `target_rms` (Constable, Parker and Constable 1987,
/// Geophysics 52, 289). Each step makes one Jacobian and looks for the weight mu within it: the
/// largest whose linearized response has the RMS aimed at, half of the present one and at last
/// 0.995 of the target; a line search on the objective of that mu follows. From the target on mu
/// follows the linearized RMS from step to step, by a factor of 1.5 at most; where that has not
/// come to a minimum Gauss-Newton goes to that of the mu, and the next mu is found in the same way,
/// between those that are known to lie above and below, until these are within 2 %. The result is
/// therefore a stationary point for its mu, with target * 0.99 <= RMS <= target unless the reason
/// says otherwise. Where steps down end above the target (two have gained less than a hundredth),
/// weights are cooled: minima of the last weight that has gained a tenth, of a tenth of it, and so
/// on, as long as their RMS falls by a hundredth. One that comes to the target is closed in from as
/// above; if none does, the result is the smoothest model within 2 % of the lowest RMS found.
OccamResult occam(const InverseProblem& problem, const Smoothing& smoothing,
                  const std::vector<double>& start, const OccamOptions& options = {});

/// Where Occam stands between two steps: plain numbers, from which it goes on with the same bits.
struct OccamState : StepState {
  bool closing_in = false;  ///< first it goes down to the target, then to minima around it
  bool cooling = false;     ///< these are of falling weights: steps down have not come to it
  double mu = 0;
  int idle = 0;            ///< steps one after the other that have changed the RMS by less than 1 %
  double aim = 0;          ///< RMS of the minima that are looked for
  int steps_here = 0;      ///< at this mu, closing in
  bool choose_mu = false;  ///< anew, from the next Jacobian
  /// A model that was found, its mu, its RMS.
  struct Found {
    std::vector<double> m, predicted;
    double mu = 0, rms = 0;
  };
  std::optional<Found> reached;  ///< by going down
  std::optional<Found> above;    ///< the roughest minimum known with an RMS above the aim
  std::optional<Found> below;    ///< the smoothest one below
};
/// occam step by step: while (!state.ended) step_occam(...). A step makes one Jacobian; where it
/// finds that the model is at its minimum for mu, it may only choose the next mu.
OccamState begin_occam(const InverseProblem& problem, const Smoothing& smoothing,
                       const std::vector<double>& start, const OccamOptions& options);
void step_occam(const InverseProblem& problem, const Smoothing& smoothing,
                const OccamOptions& options, OccamState& state);
OccamResult result_of(const InverseProblem& problem, const Smoothing& smoothing,
                      const OccamState& state);

}  // namespace tessera::inversion
