// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/smooth_posterior.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tessera::inversion {
namespace {

/// Turns -2 ln evidence into weights that sum to one and drops what does not count.
void weigh(std::vector<SmoothPosterior::Component>& components, double smallest) {
  double best = INFINITY, sum = 0;
  for (const auto& c : components) best = std::min(best, c.minus_two_log_evidence);
  for (auto& c : components) sum += c.weight = std::exp(-0.5 * (c.minus_two_log_evidence - best));
  for (auto& c : components) c.weight /= sum;
  std::erase_if(components, [&](const auto& c) { return c.weight < smallest; });
  sum = 0;
  for (const auto& c : components) sum += c.weight;
  for (auto& c : components) c.weight /= sum;
}

}  // namespace

SmoothPosterior smooth_posterior(const InverseProblem& problem, const Smoothing& smoothing,
                                 std::vector<double> mu_grid, const std::vector<double>& start,
                                 const GaussNewtonOptions& options) {
  if (mu_grid.empty()) throw Error("[smooth_posterior] needs at least one roughness weight");
  std::sort(mu_grid.begin(), mu_grid.end(), std::greater<>());
  SmoothPosterior out;
  std::vector<double> m = start;
  for (double mu : mu_grid) {
    const GaussianPrior prior = smoothing.prior(mu);
    const GaussNewtonResult fit = gauss_newton(problem, prior, m, options);
    if (fit.reason == Reason::not_finite)
      throw Error("[smooth_posterior] the start model has no finite response");
    m = fit.m;
    SmoothPosterior::Component c{.mu = mu, .rms = fit.rms};
    c.posterior = laplace(problem, prior, m, Hessian::gauss_newton);
    c.minus_two_log_evidence =
        fit.objective - log_normalization(prior, problem.fixed, m) + c.posterior.log_determinant;
    out.components.push_back(std::move(c));
  }
  weigh(out.components, 0.003);
  for (auto& c : out.components) {
    if (c.weight < 0.05) continue;  // the width of a twentieth of the probability need not be exact
    const double before = c.posterior.log_determinant;
    c.posterior = laplace(problem, smoothing.prior(c.mu), c.posterior.mean, Hessian::exact);
    c.minus_two_log_evidence += c.posterior.log_determinant - before;
  }
  weigh(out.components, 0.001);

  const std::size_t n = start.size();
  out.mean.assign(n, 0.0);
  out.standard_deviation.assign(n, 0.0);
  for (std::size_t k = 0; k < out.components.size(); ++k) {
    const auto& c = out.components[k];
    if (c.weight > out.components[out.most_probable].weight) out.most_probable = k;
    if (c.weight >= 0.05) out.exact_hessian = out.exact_hessian && c.posterior.exact_hessian;
    for (std::size_t j = 0; j < n; ++j) out.mean[j] += c.weight * c.posterior.mean[j];
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (const auto& c : out.components) {
      const double s = c.posterior.standard_deviation[j], d = c.posterior.mean[j] - out.mean[j];
      out.standard_deviation[j] += c.weight * (s * s + d * d);
    }
    out.standard_deviation[j] = std::sqrt(out.standard_deviation[j]);
  }
  return out;
}

std::vector<double> SmoothPosterior::quantile(double probability) const {
  if (!(probability > 0 && probability < 1)) throw Error("[quantile] needs 0 < p < 1");
  std::vector<double> q(mean.size());
  for (std::size_t j = 0; j < q.size(); ++j) {
    // The distribution function of the sum is monotone and lies between those of its members.
    double lo = INFINITY, hi = -INFINITY;
    for (const auto& c : components) {
      const double s = c.posterior.standard_deviation[j], m = c.posterior.mean[j];
      lo = std::min(lo, m - 9 * s);
      hi = std::max(hi, m + 9 * s);
    }
    for (int k = 0; k < 60 && lo < hi; ++k) {
      const double mid = 0.5 * (lo + hi);
      double p = 0;
      for (const auto& c : components) {
        const double s = c.posterior.standard_deviation[j], d = mid - c.posterior.mean[j];
        p += c.weight * (s > 0 ? 0.5 * std::erfc(-d / (s * std::sqrt(2.0))) : (d >= 0 ? 1.0 : 0.0));
      }
      (p < probability ? lo : hi) = mid;
    }
    q[j] = 0.5 * (lo + hi);
  }
  return q;
}

}  // namespace tessera::inversion
