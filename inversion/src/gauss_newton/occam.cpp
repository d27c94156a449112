// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/occam.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera::inversion {
namespace {

/// Runs Gauss-Newton for one mu after another and keeps one table of iterations.
class Follower {
 public:
  Follower(const InverseProblem& problem, const Smoothing& smoothing, const OccamOptions& options)
      : problem_(problem), smoothing_(smoothing), options_(options) {}

  OccamResult at(double mu, const std::vector<double>& start, int steps) {
    GaussNewtonOptions newton = options_.newton;
    newton.max_iterations = std::min(steps, std::max(1, options_.max_iterations - count_));
    OccamResult result{gauss_newton(problem_, smoothing_.prior(mu), start, newton), mu};
    const double roughness = smoothing_.roughness(result.m);
    for (Iteration row : result.iterations) {
      row.number = ++count_;
      row.mu = mu;
      row.roughness = roughness;
      table_.push_back(row);
    }
    return result;
  }
  bool exhausted() const { return count_ >= options_.max_iterations; }
  OccamResult finish(OccamResult result, Reason reason) {
    result.iterations = std::move(table_);
    result.reason = reason;
    return result;
  }

 private:
  const InverseProblem& problem_;
  const Smoothing& smoothing_;
  const OccamOptions& options_;
  int count_ = 0;
  std::vector<Iteration> table_;
};

}  // namespace

OccamResult occam(const InverseProblem& problem, const Smoothing& smoothing,
                  const std::vector<double>& start, const OccamOptions& options) {
  Follower follow(problem, smoothing, options);
  const double factor = 3.0;

  // Down: one or two steps per mu are enough, the minimum itself is not needed yet.
  std::vector<OccamResult> path;
  std::optional<OccamResult> above, below;
  std::vector<double> m = start;
  for (double mu = options.mu_start; mu >= options.mu_smallest; mu /= factor) {
    OccamResult r = follow.at(mu, m, 2);
    if (r.reason == Reason::not_finite) return follow.finish(r, r.reason);
    m = r.m;
    if (r.rms <= options.target_rms) {
      below = std::move(r);
      break;
    }
    above = r;
    path.push_back(std::move(r));
    if (follow.exhausted()) break;
  }
  if (!below) {
    double lowest = path.front().rms;
    for (const auto& r : path) lowest = std::min(lowest, r.rms);
    const auto smoothest = std::find_if(path.begin(), path.end(),
                                        [&](const auto& r) { return r.rms <= 1.02 * lowest; });
    OccamResult r = follow.at(smoothest->mu, smoothest->m, options.newton.max_iterations);
    return follow.finish(r,
                         follow.exhausted() ? Reason::iteration_limit : Reason::target_not_reached);
  }

  // At the minimum for this mu the RMS may still lie on either side of the target.
  OccamResult current = follow.at(below->mu, below->m, options.newton.max_iterations);
  OccamResult best = *below;
  above.reset();
  below.reset();
  for (double mu = current.mu;;) {
    if (current.rms <= options.target_rms) {
      if (!below || current.mu > below->mu) below = current;
      if (current.rms >= 0.99 * options.target_rms) break;
    } else if (!above || current.mu < above->mu) {
      above = current;
    }
    if (follow.exhausted()) break;
    if (!above) {
      mu = below->mu * factor;
      if (mu > options.mu_largest) break;  // even the flattest model fits: take it
    } else if (!below) {
      mu = above->mu / factor;
      if (mu < options.mu_smallest) break;
    } else {
      const double lo = std::log(below->mu), hi = std::log(above->mu);
      if (hi - lo < 1e-3) break;
      // Regula falsi in (ln mu, ln rms), aimed at the middle of the accepted window.
      const double aim = std::log(0.995 * options.target_rms);
      const double t = (aim - std::log(below->rms)) / (std::log(above->rms) - std::log(below->rms));
      mu = std::exp(lo + std::clamp(t, 0.1, 0.9) * (hi - lo));
    }
    current = follow.at(mu, (below ? below : above)->m, options.newton.max_iterations);
  }
  if (below) best = *below;
  const bool at_target = best.rms <= options.target_rms;
  const bool in_window = at_target && best.rms >= 0.98 * options.target_rms;
  return follow.finish(best, !at_target                         ? Reason::target_not_reached
                             : follow.exhausted() && !in_window ? Reason::iteration_limit
                                                                : Reason::target_reached);
}

}  // namespace tessera::inversion
