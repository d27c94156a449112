// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/occam.h"

#include "gauss_newton/line_search.h"
#include "gauss_newton/normal_equations.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera::inversion {
namespace {

/// Steps and minima for one mu after another, with one table of iterations.
class Follower {
 public:
  Follower(const InverseProblem& problem, const Smoothing& smoothing, const OccamOptions& options,
           const std::vector<double>& start)
      : problem_(problem), smoothing_(smoothing), options_(options) {
    require_valid(problem, smoothing.prior(options.mu_start), start);
    state_ = evaluate(problem, smoothing.prior(options.mu_start), start);
  }
  double rms_now() const { return rms(problem_.loss, state_.residual); }
  bool finite() const { return std::isfinite(state_.objective); }
  bool exhausted() const { return count_ >= options_.max_iterations; }
  void go_to(const std::vector<double>& m, double mu) {
    state_ = evaluate(problem_, smoothing_.prior(mu), m);
  }

  /// The largest mu within [least, most] whose linearized response here has an RMS of `aim` at
  /// most; `least` where none has. The linearized RMS grows with mu.
  double weight_for(const Linearization& linear, double aim, double least, double most) const {
    const auto off = [&](double ln_mu) {
      return std::log(rms(problem_.loss, step_of(linear, std::exp(ln_mu)).residual) / aim);
    };
    double low = std::log(least), high = std::log(most);
    double f_high = off(high);
    if (f_high <= 0) return most;
    double f_low = off(low);
    if (f_low > 0) return least;
    // Regula falsi of Illinois: the side that stays counts half.
    for (int k = 0; k < 60 && high - low > 1e-3; ++k) {
      const double at = f_high == f_low
                            ? 0.5 * (low + high)
                            : std::clamp(high - f_high * (high - low) / (f_high - f_low),
                                         low + 0.02 * (high - low), high - 0.02 * (high - low));
      const double f = off(at);
      if (std::abs(f) < 1e-3) return std::exp(at);
      if (f > 0) {
        high = at, f_high = f;
        f_low /= 2;
      } else {
        low = at, f_low = f;
        f_high /= 2;
      }
    }
    return std::exp(low);
  }

  Linearization linearization() const {
    return {problem_, state_.m, state_.residual, options_.newton};
  }

  /// One step at mu from what is linearized here. False where it lowers nothing.
  bool step(const Linearization& linear, double mu) {
    const GaussianPrior prior = smoothing_.prior(mu);
    state_.objective = state_.misfit + prior.penalty(state_.m);
    Iteration row{.number = count_ + 1, .mu = mu};
    const SearchEnd end =
        search_line(problem_, prior, step_of(linear, mu), options_.newton, state_, row);
    if (end != SearchEnd::moved) return false;
    ++count_;
    row.roughness = smoothing_.roughness(state_.m);
    table_.push_back(row);
    return true;
  }

  /// The minimum for mu, from here.
  OccamResult minimum(double mu) {
    GaussNewtonOptions newton = options_.newton;
    newton.max_iterations =
        std::min(newton.max_iterations, std::max(1, options_.max_iterations - count_));
    OccamResult result{gauss_newton(problem_, smoothing_.prior(mu), state_.m, newton), mu};
    const double roughness = smoothing_.roughness(result.m);
    for (Iteration row : result.iterations) {
      row.number = ++count_;
      row.mu = mu;
      row.roughness = roughness;
      table_.push_back(row);
    }
    go_to(result.m, mu);
    return result;
  }

  OccamResult here(double mu) const {
    OccamResult r;
    r.m = state_.m;
    r.predicted = state_.predicted;
    r.misfit = state_.misfit;
    r.objective = state_.misfit + smoothing_.prior(mu).penalty(state_.m);
    r.rms = rms_now();
    r.mu = mu;
    return r;
  }
  OccamResult finish(OccamResult result, Reason reason) {
    result.iterations = std::move(table_);
    result.reason = reason;
    return result;
  }

 private:
  NewtonStep step_of(const Linearization& linear, double mu) const {
    return linear.step(smoothing_.prior(mu),
                       smoothing_.proportional ? std::optional(mu) : std::nullopt);
  }

  const InverseProblem& problem_;
  const Smoothing& smoothing_;
  const OccamOptions& options_;
  SearchState state_;
  int count_ = 0;
  std::vector<Iteration> table_;
};

/// Steps towards an RMS of `aim`, at most half the way down in each; the mu of the last one. Ends
/// where the aim is reached, or two steps have gained less than a hundredth.
double descend(Follower& follow, const OccamOptions& options, double aim) {
  double mu = options.mu_start;
  for (int idle = 0; idle < 2 && !follow.exhausted();) {
    const double before = follow.rms_now();
    if (before <= options.target_rms) break;
    const Linearization linear = follow.linearization();
    mu = follow.weight_for(linear, std::max(aim, 0.5 * before), options.mu_smallest,
                           options.mu_start);
    // A step that leads up the misfit leads too far: a smoother one is tried.
    if (!follow.step(linear, mu)) break;
    idle = follow.rms_now() > 0.99 * before ? idle + 1 : 0;
  }
  return mu;
}

/// The largest mu whose minimum has an RMS in [0.99, 1] of the target, by minima between those that
/// are known to lie above and below it.
struct Bracket {
  std::optional<OccamResult> above, below;
};
Bracket close_in(Follower& follow, const OccamOptions& options, double mu, double target) {
  Bracket found;
  for (;;) {
    OccamResult current = follow.minimum(mu);
    if (current.rms <= target) {
      if (!found.below || current.mu > found.below->mu) found.below = current;
      if (current.rms >= 0.99 * target) break;
    } else if (!found.above || current.mu < found.above->mu) {
      found.above = current;
    }
    if (follow.exhausted()) break;
    const double least = found.below ? found.below->mu : options.mu_smallest,
                 most = found.above ? found.above->mu : options.mu_largest;
    if (std::log(most / least) < 1e-3) break;
    // Where the linearized RMS asks for a mu that is known not to do, the middle is tried.
    const OccamResult& from = found.below ? *found.below : current;
    follow.go_to(from.m, from.mu);
    mu = follow.weight_for(follow.linearization(), 0.995 * target, least, most);
    if (mu >= most * 0.999 && !found.above) {
      if (current.mu >= options.mu_largest * 0.999) break;  // even the flattest model fits
      continue;
    }
    const double inside = 0.1 * std::log(most / least);
    mu = std::clamp(mu, least * std::exp(inside), most * std::exp(-inside));
  }
  return found;
}

}  // namespace

OccamResult occam(const InverseProblem& problem, const Smoothing& smoothing,
                  const std::vector<double>& start, const OccamOptions& options) {
  Follower follow(problem, smoothing, options, start);
  if (!follow.finite()) return follow.finish(follow.here(options.mu_start), Reason::not_finite);
  const double mu = descend(follow, options, 0.995 * options.target_rms);
  if (follow.exhausted() && follow.rms_now() > options.target_rms)
    return follow.finish(follow.here(mu), Reason::iteration_limit);
  if (follow.rms_now() > options.target_rms) {
    // Out of reach: the smoothest within 2 % of the lowest that was found.
    const double lowest = follow.rms_now();
    const Bracket found = close_in(follow, options, mu, 1.02 * lowest);
    const OccamResult r = found.below ? *found.below : *found.above;
    return follow.finish(r, r.rms <= options.target_rms ? Reason::target_reached
                            : follow.exhausted()        ? Reason::iteration_limit
                                                        : Reason::target_not_reached);
  }
  const OccamResult reached = follow.here(mu);
  const Bracket found = close_in(follow, options, mu, options.target_rms);
  const OccamResult best = found.below ? *found.below : reached;
  const bool in_window = best.rms >= 0.98 * options.target_rms;
  return follow.finish(
      best, follow.exhausted() && !in_window ? Reason::iteration_limit : Reason::target_reached);
}

}  // namespace tessera::inversion
