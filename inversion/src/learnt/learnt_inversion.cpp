// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/learnt_inversion.h"

#include "base/eigen_map.h"
#include "gauss_newton/line_search.h"
#include "learnt/straight_physics.h"
#include "tessera/autodiff/error.h"
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

/// How likely a section of the prior's kind costs more than `chi` a datum. One that the decoder is
/// wrong by s times as much as on average costs 1 + (s^2 - 1) u in the mean, u the pixels' part of
/// the data's variance; s is as likely as among held-out sections.
double probability_above(double chi, const LearntResult& r, const PriorCalibration& calibration) {
  const double n = static_cast<double>(r.n_data);
  const std::vector<double> cell = calibration.cell_error.to_vector();
  double square = 0;
  for (const double e : cell) square += e * e / static_cast<double>(cell.size());
  constexpr int parts = 400;
  double sum = 0;
  for (int k = 0; k < parts; ++k) {
    const double e = calibration.error_at((k + 0.5) / parts),
                 more = square > 0 ? e * e / square - 1 : 0, mean = 1 + more * r.pixels_variance,
                 variance =
                     2 / n *
                     (1 + 2 * more * r.pixels_variance + more * more * r.pixels_variance_square);
    // A gamma distribution of these, by its cube root (Wilson and Hilferty 1931,
    // doi:10.1073/pnas.17.12.684).
    const double c = variance / (9 * mean * mean);
    const double z = (std::cbrt(chi / mean) - (1 - c)) / std::sqrt(c);
    sum += 0.5 * std::erfc(z / std::numbers::sqrt2);
  }
  return sum / parts;
}
double cost_of_one_in_a_hundred(const LearntResult& r, const PriorCalibration& calibration) {
  double low = 0, high = 2;
  while (probability_above(high, r, calibration) > 0.01) high *= 2;
  for (int k = 0; k < 50; ++k) {
    const double middle = 0.5 * (low + high);
    (probability_above(middle, r, calibration) > 0.01 ? low : high) = middle;
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
  if (!p.fixed.empty()) throw Error("[invert_learnt] no cell of a learnt model can be fixed");
  LearntResult r;
  r.starts = starts_of(model, prior, smooth, options);
  const std::vector<LearntStart> raw = r.starts;
  std::vector<Iteration> rows;
  for (int round = 0; round <= options.rounds; ++round) {
    const Numbers m0 = round > 0        ? cells.predict(r.m)
                       : smooth.empty() ? cells.predict(prior.mean)
                                        : smooth;
    const StraightPhysics straight(problem, model, prior, m0);
    std::vector<LearntStart> starts = raw;
    for (LearntStart& s : starts) s.x = straight.minimum_from(s.x);
    const Cheapest from = cheapest_of(p, prior, starts);
    if (round == 0) r.start = from.start, r.starts = starts;
    // A decrease of Phi by less is none that data or prior speak for.
    if (round > 0 && !(from.state.objective < r.objective - 1)) break;
    rows.push_back({.number = static_cast<int>(rows.size()) + 1,
                    .rms = rms(p.loss, from.state.residual),
                    .objective = from.state.objective,
                    .step = 1,
                    .forwards = static_cast<int>(starts.size())});
    static_cast<GaussNewtonResult&>(r) = gauss_newton(p, prior, from.state.m, options.newton);
    for (Iteration row : r.iterations) {
      row.number = static_cast<int>(rows.size()) + 1;
      rows.push_back(row);
    }
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
    r.mean_rms = rms(p.loss, normalised_residual(p.data, problem.forward.predict(r.mean), p.sigma));
  }
  const PixelShare share = pixel_share(problem, model, prior, r.m);
  r.pixels_variance = share.mean, r.pixels_variance_square = share.square;
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

std::vector<std::string> doubts_of(const LearntResult& r, const PriorCalibration& calibration) {
  std::vector<std::string> doubts;
  const double chi = r.objective / static_cast<double>(r.n_data);
  const double bound = cost_of_one_in_a_hundred(r, calibration);
  if (!(chi <= bound))
    doubts.push_back(
        fmt::format("misfit and prior together cost {:.3f} a datum, more than the {:.3f} that one "
                    "earth in a hundred of the prior's kind costs",
                    chi, bound));
  for (std::size_t k = 0; k < r.code_norm.size(); ++k)
    if (!(r.code_norm[k] <= calibration.norm_at(0.99)))
      doubts.push_back(
          fmt::format("codes have a mean square of {:.3f}, that of one held-out section in a "
                      "hundred is above {:.3f}",
                      r.code_norm[k], calibration.norm_at(0.99)));
  return doubts;
}

}  // namespace tessera::inversion
