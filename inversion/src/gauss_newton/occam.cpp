// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/occam.h"

#include "gauss_newton/line_search.h"
#include "gauss_newton/normal_equations.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tessera::inversion {
namespace {

/// One step of Occam on a state.
class OccamStep {
 public:
  OccamStep(const InverseProblem& problem, const Smoothing& smoothing, const OccamOptions& options,
            OccamState& state)
      : problem_(problem), smoothing_(smoothing), options_(options), s_(state) {}

  void begin() {
    if (rms_now() <= options_.target_rms) close_in();
  }
  void run() {
    const Linearization linear(problem_, s_.m, residual(), options_.newton);
    if (!s_.closing_in)
      descend_from(linear);
    else if (s_.cooling)
      cool_from(linear);
    else
      close_in_from(linear);
  }

 private:
  std::vector<double> residual() const {
    return normalised_residual(problem_.data, s_.predicted, problem_.sigma);
  }
  double rms_now() const { return rms(problem_.loss, residual()); }
  bool exhausted() const {
    return static_cast<int>(s_.iterations.size()) >= options_.max_iterations;
  }
  OccamState::Found here() const { return {s_.m, s_.predicted, s_.mu, rms_now()}; }
  void end(Reason reason) {
    s_.ended = true;
    s_.reason = reason;
  }
  void end(const OccamState::Found& at, Reason reason) {
    const OccamState::Found copy = at;
    s_.m = copy.m;
    s_.predicted = copy.predicted;
    s_.mu = copy.mu;
    end(reason);
  }
  NewtonStep step_of(const Linearization& linear, double mu) const {
    using Scale = Linearization::Scale;
    return linear.step(smoothing_.prior(mu), smoothing_.proportional
                                                 ? std::optional(Scale{mu, smoothing_.free})
                                                 : std::nullopt);
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

  /// A line search along the step at mu; whether it has moved the model.
  bool move_along(const NewtonStep& step) {
    const GaussianPrior prior = smoothing_.prior(s_.mu);
    SearchState at = search_state(problem_, prior, s_.m, s_.predicted);
    Iteration row{.number = static_cast<int>(s_.iterations.size()) + 1, .mu = s_.mu};
    if (search_line(problem_, prior, step, options_.newton, at, row) != SearchEnd::moved)
      return false;
    s_.m = std::move(at.m);
    s_.predicted = std::move(at.predicted);
    row.roughness = smoothing_.roughness(s_.m);
    s_.iterations.push_back(row);
    return true;
  }

  /// Towards the target, at most half the way down in each step. Ends where it is reached, or two
  /// steps have gained less than a hundredth.
  void descend_from(const Linearization& linear) {
    const double before = rms_now();
    // What cannot be fitted asks for no smoothness at all: it goes by steps.
    const double least = s_.iterations.empty()
                             ? options_.mu_smallest
                             : std::max(options_.mu_smallest, s_.mu / options_.largest_fall);
    s_.mu = weight_for(linear, std::max(0.995 * options_.target_rms, 0.5 * before), least,
                       std::max(least, options_.mu_start));
    if (!move_along(step_of(linear, s_.mu))) return close_in();
    const double now = rms_now();
    s_.idle = now > 0.99 * before ? s_.idle + 1 : 0;
    if (now <= options_.target_rms || s_.idle == 2 || exhausted()) close_in();
  }
  /// Whether two steps one after the other have changed the RMS by less than this share.
  bool settled(double before, double share) {
    s_.idle = std::abs(rms_now() / before - 1) < share ? s_.idle + 1 : 0;
    return s_.idle >= 2;
  }

  /// From now on minima: with the target's RMS, or, where steps down have ended above it, first of
  /// falling weights.
  void close_in() {
    const double now = rms_now();
    if (now <= options_.target_rms) {
      reach_target();
      if (!options_.smoothest) return end(Reason::target_reached);
      if (exhausted()) return finish();
    } else {
      if (exhausted()) return end(Reason::iteration_limit);
      s_.aim = 1.02 * now;
      s_.cooling = true;
      s_.mu = last_that_gained();
      s_.idle = 0;
    }
    s_.closing_in = true;
  }

  /// The weight of the last step down that has gained a tenth. With those below it the linearized
  /// response holds over short steps only.
  double last_that_gained() const {
    const std::vector<Iteration>& steps = s_.iterations;
    for (std::size_t i = steps.size(); i-- > 1;)
      if (steps[i].rms < 0.9 * steps[i - 1].rms) return steps[i].mu;
    return steps.empty() ? options_.mu_start : steps.front().mu;
  }

  /// Minima of weights a tenth apart, each from the one before, near enough where the RMS has
  /// settled to half a hundredth; as long as they lie lower by a hundredth. What is
  /// looked for then is the target, where one has come to it, or the smoothest minimum within 2 %
  /// of the lowest.
  void cool_from(const Linearization& linear) {
    const NewtonStep d = step_of(linear, s_.mu);
    const double before = rms_now();
    const bool moved = d.decrease > tolerance() && move_along(d);
    const double now = rms_now();
    if (now <= options_.target_rms) {
      reach_target();
      s_.cooling = false;
      s_.steps_here = 0;
      if (!options_.smoothest) end(Reason::target_reached);
      return;
    }
    if (moved && !settled(before, 0.005) && ++s_.steps_here < options_.newton.max_iterations &&
        !exhausted())
      return;
    s_.idle = s_.steps_here = 0;
    const bool lower = !s_.below || now < 0.99 * s_.below->rms;
    if (lower) {
      s_.above = std::exchange(s_.below, here());
      s_.aim = 1.02 * now;
    }
    if (exhausted()) return finish();
    if (lower && s_.mu > options_.mu_smallest) {
      s_.mu = std::max(options_.mu_smallest, 0.1 * s_.mu);
      return;
    }
    s_.cooling = false;
    if (s_.above && s_.above->rms <= s_.aim) s_.above.reset();
    s_.m = s_.below->m;
    s_.predicted = s_.below->predicted;
    s_.mu = s_.below->mu;
    s_.below.reset();
  }

  /// A step to the minimum for mu, or, at it, for the next mu. Where no weight of many moves the
  /// model, errors are so small that steps are rounding: it stands.
  void close_in_from(const Linearization& linear) {
    for (int tries = 0; tries < most_tries; ++tries) {
      if (s_.choose_mu) {
        if (!choose_mu(linear)) return finish();
      } else if (s_.reached && s_.steps_here < steps_with_mu) {
        follow_mu(linear);
      }
      const NewtonStep d = step_of(linear, s_.mu);
      const double before = rms_now();
      if (d.decrease > tolerance() && move_along(d)) {
        if (!s_.reached && rms_now() <= options_.target_rms) {
          reach_target();
          if (!options_.smoothest) return end(Reason::target_reached);
        }
        if (++s_.steps_here >= options_.newton.max_iterations || exhausted() ||
            (!s_.reached && settled(before, 0.001)))
          found_minimum();
        return;
      }
      if (!found_minimum()) return;
    }
    finish();
  }

  /// Also where minima were looked for that lie above it.
  void reach_target() {
    s_.aim = options_.target_rms;
    s_.reached = here();
    if (s_.below && s_.below->rms > s_.aim) s_.above = std::exchange(s_.below, std::nullopt);
  }

  /// Misfits count in errors that make the RMS which is aimed at one: with those that are stated,
  /// too small by that RMS, the same step would change Phi by its square more.
  double tolerance() const { return options_.newton.tolerance * std::max(1.0, s_.aim * s_.aim); }

  /// Takes the model as the minimum for its mu. Whether there is more to do from this same model.
  bool found_minimum() {
    const OccamState::Found current = here();
    if (!s_.reached) s_.aim = std::min(s_.aim, 1.02 * current.rms);
    if (current.rms <= s_.aim) {
      if (!s_.below || current.mu > s_.below->mu) s_.below = current;
      if (current.rms >= 0.99 * s_.aim) return finish(), false;
    } else if (!s_.above || current.mu < s_.above->mu) {
      s_.above = current;
    }
    if (exhausted() || std::log(most() / least()) < enough) return finish(), false;
    s_.choose_mu = true;
    s_.steps_here = s_.idle = 0;
    if (!s_.below || s_.below->m == s_.m) return true;
    s_.m = s_.below->m;
    s_.predicted = s_.below->predicted;
    return false;
  }
  double least() const { return s_.below ? s_.below->mu : options_.mu_smallest; }
  double most() const { return s_.above ? s_.above->mu : options_.mu_largest; }

  /// The next mu between those that are known to lie above and below; false where even the flattest
  /// model fits. Where the linearized RMS asks for a mu that is known not to do, the middle is
  /// tried.
  bool choose_mu(const Linearization& linear) {
    s_.choose_mu = false;
    const double last = s_.mu;
    s_.mu = weight_for(linear, 0.995 * s_.aim, least(), most());
    if (s_.mu >= most() * 0.999 && !s_.above) return last < options_.mu_largest * 0.999;
    // Away from both ends of what is known; of the end of the search alone by no more than that,
    // and always on between them.
    const double between = std::log(most() / least()),
                 inside =
                     s_.below && s_.above ? 0.1 * between : std::min(2 * enough, 0.5 * between);
    s_.mu = std::clamp(s_.mu, least() * std::exp(inside), most() * std::exp(-inside));
    return true;
  }

  /// The model and its mu go to the target together: the mu that the linearized RMS asks for here,
  /// if it is not far from the last one; else mu stands until its minimum is found.
  void follow_mu(const Linearization& linear) {
    constexpr double far = 1.5;
    const double low = std::max(least(), s_.mu / far), high = std::min(most(), s_.mu * far);
    const double asked = weight_for(linear, 0.995 * s_.aim, low, high);
    if (asked > low && asked < high)
      s_.mu = asked;
    else
      s_.steps_here = steps_with_mu;
  }

  void finish() {
    if (s_.reached) {
      const OccamState::Found& best = s_.below ? *s_.below : *s_.reached;
      const bool in_window = best.rms >= 0.98 * options_.target_rms;
      return end(best,
                 exhausted() && !in_window ? Reason::iteration_limit : Reason::target_reached);
    }
    const OccamState::Found& best = s_.below ? *s_.below : *s_.above;
    end(best, best.rms <= options_.target_rms ? Reason::target_reached
              : exhausted()                   ? Reason::iteration_limit
                                              : Reason::target_not_reached);
  }

  static constexpr double enough = 0.02;   ///< of ln mu: it need not be known better
  static constexpr int steps_with_mu = 6;  ///< in which mu follows; then it stands
  static constexpr int most_tries = 40;    ///< weights from one Jacobian

  const InverseProblem& problem_;
  const Smoothing& smoothing_;
  const OccamOptions& options_;
  OccamState& s_;
};

}  // namespace

OccamState begin_occam(const InverseProblem& problem, const Smoothing& smoothing,
                       const std::vector<double>& start, const OccamOptions& options) {
  OccamState state;
  static_cast<StepState&>(state) =
      begin_gauss_newton(problem, smoothing.prior(options.mu_start), start);
  state.mu = options.mu_start;
  if (!state.ended) OccamStep(problem, smoothing, options, state).begin();
  return state;
}

void step_occam(const InverseProblem& problem, const Smoothing& smoothing,
                const OccamOptions& options, OccamState& state) {
  if (!state.ended) OccamStep(problem, smoothing, options, state).run();
}

OccamResult result_of(const InverseProblem& problem, const Smoothing& smoothing,
                      const OccamState& state) {
  return {result_of(problem, smoothing.prior(state.mu), static_cast<const StepState&>(state)),
          state.mu};
}

OccamResult occam(const InverseProblem& problem, const Smoothing& smoothing,
                  const std::vector<double>& start, const OccamOptions& options) {
  OccamState state = begin_occam(problem, smoothing, start, options);
  while (!state.ended) step_occam(problem, smoothing, options, state);
  return result_of(problem, smoothing, state);
}

}  // namespace tessera::inversion
