// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/learnt_inversion.h"

#include "base/eigen_map.h"
#include "gauss_newton/line_search.h"
#include "learnt/straight_physics.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/through.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;

std::vector<LearntStart> starts_of(const LearntModel& model, const GaussianPrior& prior,
                                   const Numbers& smooth, const LearntOptions& o) {
  std::vector<LearntStart> starts{{"zero", prior.mean}};
  const auto with = [&](std::string name, const std::function<Numbers(std::size_t)>& codes) {
    LearntStart s{std::move(name), prior.mean};
    for (std::size_t k = 0; k < model.generators.size(); ++k) {
      const Numbers z = codes(k);
      std::copy(z.begin(), z.end(), s.x.begin() + static_cast<std::ptrdiff_t>(model.first_code(k)));
    }
    starts.push_back(std::move(s));
  };
  const bool all_encode = std::all_of(model.generators.begin(), model.generators.end(),
                                      [](const Generator& g) { return g.encode != nullptr; });
  if (!smooth.empty() && all_encode)
    with("smooth", [&](std::size_t k) {
      return model.generators[k].encode(model.array_of(k, smooth)).to_vector();
    });
  std::uint64_t counter = 0;
  for (int d = 0; d < o.draws; ++d)
    with(fmt::format("draw {}", d + 1), [&](std::size_t k) {
      Numbers z(static_cast<std::size_t>(model.generators[k].codes));
      for (double& v : z) v = data::normal(o.key, counter++);
      return z;
    });
  return starts;
}

void require_held_out(const LearntModel& model, const std::vector<HeldOut>& held_out) {
  if (held_out.empty()) return;
  bool fits = held_out.size() == model.generators.size();
  for (std::size_t k = 0; fits && k < held_out.size(); ++k) {
    const Index count = held_out[0].codes.dim(0);
    fits = held_out[k].codes.shape() == Shape{count, model.generators[k].codes} &&
           held_out[k].errors.size() == count * model.generators[k].model.count();
  }
  if (!fits) throw Error("[invert_learnt] held-out sections are not those of the generators");
}

struct Cheapest {
  std::size_t start;
  SearchState state;
};
/// Of starts, whose objectives it fills in.
Cheapest cheapest_of(const InverseProblem& p, const GaussianPrior& prior,
                     std::vector<LearntStart>& starts) {
  std::optional<Cheapest> best;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    SearchState s = evaluate(p, prior, starts[k].x);
    starts[k].objective = s.objective;
    if (!best || s.objective < best->state.objective || !std::isfinite(best->state.objective))
      best = Cheapest{k, std::move(s)};
  }
  return *std::move(best);
}

double share_weighted_difference(const LearntModel& model, const Numbers& a, const Numbers& b) {
  double sum = 0, weight = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const double w = 1 - model.outside[c];
    sum += w * std::pow((a[c] - b[c]) / std::numbers::ln10, 2);
    weight += w;
  }
  return std::sqrt(sum / weight);
}

}  // namespace

namespace {

/// How likely an earth of the prior's kind costs more than `chi` a datum: a gamma distribution for
/// each error that sections show, by its cube root (Wilson and Hilferty 1931,
/// doi:10.1073/pnas.17.12.684).
double probability_above(double chi, const std::vector<ExpectedCost>& expected) {
  double sum = 0;
  for (const ExpectedCost& e : expected) {
    const double c = e.variance / (9 * e.mean * e.mean),
                 z = (std::cbrt(chi / e.mean) - (1 - c)) / std::sqrt(c);
    sum += 0.5 * std::erfc(z / std::numbers::sqrt2);
  }
  return sum / static_cast<double>(expected.size());
}
double cost_of_one_in(double earths, const LearntResult& r) {
  std::vector<ExpectedCost> expected = r.expected;
  if (expected.empty()) expected = {{1, 2 / static_cast<double>(r.n_data)}};
  double low = 0, high = 2;
  while (probability_above(high, expected) > 1 / earths) high *= 2;
  for (int k = 0; k < 50; ++k) {
    const double middle = 0.5 * (low + high);
    (probability_above(middle, expected) > 1 / earths ? low : high) = middle;
  }
  return high;
}

}  // namespace

LearntResult invert_learnt(const InverseProblem& problem, const LearntModel& model,
                           const GaussianPrior& prior, const Numbers& smooth,
                           const LearntOptions& options) {
  const ForwardMap cells = model.map();
  InverseProblem p = problem;
  p.forward = through(problem.forward, cells);
  require_valid(p, prior, prior.mean);
  require_held_out(model, options.held_out);
  if (!p.fixed.empty()) throw Error("[invert_learnt] no cell of a learnt model can be fixed");
  LearntResult r;
  const std::vector<LearntStart> raw = starts_of(model, prior, smooth, options);
  const double unit = options.error_scale * options.error_scale;
  GaussNewtonOptions newton = options.newton;
  newton.tolerance *= unit;
  std::vector<Iteration> rows;
  const auto note = [&](Iteration row) {
    row.number = static_cast<int>(rows.size()) + 1;
    rows.push_back(row);
    if (options.on_step) options.on_step(row);
  };
  const auto left = [&] { return options.newton.max_iterations - static_cast<int>(rows.size()); };
  for (int round = 0; round == 0 || (round <= options.rounds && left() > 0); ++round) {
    std::vector<LearntStart> starts = raw;
    const bool goes_on = round == 0 && options.from;
    if (goes_on) {
      starts = {*options.from};
    } else {
      const StraightPhysics straight(problem, model, prior,
                                     round > 0        ? cells.predict(r.m)
                                     : smooth.empty() ? cells.predict(prior.mean)
                                                      : smooth);
      for (LearntStart& s : starts) s.x = straight.minimum_from(s.x);
    }
    const Cheapest from = cheapest_of(p, prior, starts);
    if (round == 0) r.start = from.start, r.starts = starts;
    // A decrease of Phi by less is none that data or prior speak for.
    if (round > 0 && !(from.state.objective < r.objective - unit)) break;
    if (!goes_on)
      note({.rms = rms(p.loss, from.state.residual),
            .objective = from.state.objective,
            .step = 1,
            .forwards = static_cast<int>(starts.size()),
            .plain_rms = rms({}, from.state.residual)});
    newton.max_iterations = left();
    StepState steps{.m = from.state.m, .predicted = from.state.predicted};
    if (!std::isfinite(from.state.objective)) steps.ended = true, steps.reason = Reason::not_finite;
    while (!steps.ended) {
      const std::size_t before = steps.iterations.size();
      step_gauss_newton(p, prior, newton, steps);
      if (steps.iterations.size() > before) note(steps.iterations.back());
    }
    static_cast<GaussNewtonResult&>(r) = result_of(p, prior, steps);
  }
  r.iterations = std::move(rows);
  if (options.posterior_draws > 0) {
    r.mean.assign(cells.n_data, 0.0);
    const StraightPhysics straight(problem, model, prior, cells.predict(r.m));
    for (int k = 0; k < options.posterior_draws; ++k) {
      const Numbers m = cells.predict(
          straight.draw_from(r.m, {options.key.seed, options.key.stream + 1 + std::uint64_t(k)}));
      for (std::size_t c = 0; c < m.size(); ++c) r.mean[c] += m[c] / options.posterior_draws;
    }
    r.mean_rms = rms({}, normalised_residual(p.data, problem.forward.predict(r.mean), p.sigma));
  }
  r.expected = expected_costs(problem, model, prior, r.m, options.held_out);
  r.n_data = p.data.size();
  r.cells = cells.predict(r.m);
  const double penalty = prior.penalty(r.m);
  for (std::size_t k = 0; k < model.generators.size(); ++k) {
    const auto first = r.m.begin() + static_cast<std::ptrdiff_t>(model.first_code(k));
    double sum = 0;
    for (auto z = first; z != first + model.generators[k].codes; ++z) sum += *z * *z;
    r.codes_cost += sum;
    r.code_norm.push_back(sum / static_cast<double>(model.generators[k].codes));
  }
  r.pixels_cost = penalty - r.codes_cost;
  r.from_smooth = smooth.empty() ? std::numeric_limits<double>::quiet_NaN()
                                 : share_weighted_difference(model, r.cells, smooth);
  return r;
}

std::vector<std::string> doubts_of(const LearntResult& r, const std::vector<HeldOut>& held_out) {
  constexpr int rare = 500;  // a warning that is hardly ever wrong is heeded
  std::vector<std::string> doubts;
  const double chi = r.objective / static_cast<double>(r.n_data), bound = cost_of_one_in(rare, r);
  if (!(chi <= bound))
    doubts.push_back(
        fmt::format("misfit and prior together cost {:.3f} a datum, more than the {:.3f} that one "
                    "earth in {} of the prior's kind costs",
                    chi, bound, rare));
  for (std::size_t k = 0; k < held_out.size(); ++k) {
    const double most = max(mean(square(held_out[k].codes), {-1})).item<double>();
    if (!(r.code_norm[k] <= most))
      doubts.push_back(
          fmt::format("codes have a mean square of {:.3f}, that of {} held-out sections is {:.3f} "
                      "at most",
                      r.code_norm[k], held_out[k].codes.dim(0), most));
  }
  return doubts;
}

}  // namespace tessera::inversion
