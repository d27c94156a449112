// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/learnt_inversion.h"

#include "base/eigen_map.h"
#include "gauss_newton/line_search.h"
#include "tessera/autodiff/error.h"
#include "tessera/inversion/through.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
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

LearntResult invert_learnt(const InverseProblem& problem, const LearntModel& model,
                           const GaussianPrior& prior, const Numbers& smooth,
                           const LearntOptions& options) {
  const ForwardMap cells = model.map();
  InverseProblem p = problem;
  p.forward = through(problem.forward, cells);
  require_valid(p, prior, prior.mean);
  LearntResult r;
  r.starts = starts_of(model, prior, smooth, options);
  for (LearntStart& s : r.starts) s.objective = evaluate(p, prior, s.x).objective;
  const auto cost = [&](const LearntStart& s) {
    return std::isfinite(s.objective) ? s.objective : std::numeric_limits<double>::infinity();
  };
  r.start = static_cast<std::size_t>(
      std::min_element(r.starts.begin(), r.starts.end(),
                       [&](const auto& a, const auto& b) { return cost(a) < cost(b); }) -
      r.starts.begin());
  static_cast<GaussNewtonResult&>(r) = gauss_newton(p, prior, r.starts[r.start].x, options.newton);
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
  const double n = static_cast<double>(r.n_data), chi = r.objective / n;
  // 99 in 100 of chi-squared / n lie below (Wilson and Hilferty 1931, doi:10.1073/pnas.17.12.684).
  const double c = 2 / (9 * n), bound = std::pow(1 - c + 2.3263 * std::sqrt(c), 3);
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
