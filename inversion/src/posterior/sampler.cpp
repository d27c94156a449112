// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/sampler.h"

#include "base/eigen_map.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// One roughness weight: its prior, and its Laplace posterior ready for proposals.
struct Sampler::Component {
  GaussianPrior prior;
  double half_normalization = 0;  ///< of the prior, see log_normalization
  VectorXd centre;
  MatrixXd precision;
  Eigen::LLT<MatrixXd> factor;
};

Sampler::Sampler(const InverseProblem& problem, const Smoothing& smoothing,
                 const SmoothPosterior& posterior, const SamplerOptions& options)
    : problem_(problem), options_(options), first_component_(posterior.most_probable) {
  if (posterior.components.empty() || options.keep_every == 0)
    throw Error("[Sampler] needs a posterior with components and keep_every > 0");
  for (const auto& c : posterior.components) {
    auto made = std::make_shared<Component>();
    made->prior = smoothing.prior(c.mu);
    made->half_normalization =
        0.5 * log_normalization(made->prior, problem.fixed, c.posterior.mean);
    made->centre = view(c.posterior.mean);
    made->precision = view(c.posterior.precision);
    made->factor.compute(made->precision);
    components_.push_back(std::move(made));
  }
  first_ = posterior.components[posterior.most_probable].posterior.mean;
}

Chain Sampler::start() const { return {.m = first_, .component = first_component_}; }

/// Half of Phi(m) minus the quadratic form of the Laplace posterior: what the proposal leaves out.
double Sampler::excess(const Component& c, const std::vector<double>& m) const {
  const double phi =
      misfit(problem_.loss,
             normalised_residual(problem_.data, problem_.forward.predict(m), problem_.sigma)) +
      c.prior.penalty(m);
  const VectorXd d = view(m) - c.centre;
  return 0.5 * (phi - d.dot(c.precision * d));
}

bool Sampler::advance(Chain& chain, std::uint64_t until) const {
  const std::size_t n = first_.size();
  if (chain.m.size() != n || chain.component >= components_.size())
    throw Error("[Sampler] the chain belongs to another problem");
  until = std::min(until, total());
  const auto* c = components_[chain.component].get();
  double here = chain.step < until ? excess(*c, chain.m) : 0.0;
  for (; chain.step < until; ++chain.step) {
    const std::uint64_t counter = chain.step * (n + 2);
    const double beta = std::exp(chain.log_beta);
    VectorXd xi(static_cast<Index>(n));
    for (std::size_t j = 0; j < n; ++j)
      xi[static_cast<Index>(j)] = normal(options_.key, counter + j);
    VectorXd trial = c->centre +
                     std::sqrt(std::max(0.0, 1 - beta * beta)) * (view(chain.m) - c->centre) +
                     beta * c->factor.matrixU().solve(xi);
    for (std::size_t j = 0; j < problem_.fixed.size(); ++j)
      if (problem_.fixed[j]) trial[static_cast<Index>(j)] = chain.m[j];
    std::vector<double> moved = to_vector(trial);
    const double there = excess(*c, moved);
    const bool accept = std::log(uniform(options_.key, counter + n)) < here - there;
    if (accept) {
      chain.m = std::move(moved);
      here = there;
    }
    if (chain.step < options_.burn_in)  // towards accepting three in ten
      chain.log_beta =
          std::clamp(chain.log_beta + ((accept ? 1.0 : 0.0) - 0.3) /
                                          std::sqrt(static_cast<double>(chain.step) + 10),
                     std::log(0.01), std::log(0.999));
    else
      chain.accepted += accept;

    // Gibbs: p(component | m) is proportional to the prior density of m under it.
    if (components_.size() > 1) {
      std::vector<double> log_p;
      for (const auto& k : components_)
        log_p.push_back(k->half_normalization - 0.5 * k->prior.penalty(chain.m));
      const double top = *std::max_element(log_p.begin(), log_p.end());
      double sum = 0;
      for (double& p : log_p) sum += p = std::exp(p - top);
      double u = uniform(options_.key, counter + n + 1) * sum;
      std::size_t pick = 0;
      while (pick + 1 < log_p.size() && (u -= log_p[pick]) > 0) ++pick;
      if (pick != chain.component) {
        chain.component = pick;
        c = components_[pick].get();
        here = excess(*c, chain.m);
      }
    }
    if (chain.step >= options_.burn_in &&
        (chain.step - options_.burn_in) % options_.keep_every == 0)
      chain.kept.insert(chain.kept.end(), chain.m.begin(), chain.m.end());
  }
  return chain.step >= total();
}

std::vector<double> sample_quantile(const std::vector<double>& kept, std::size_t n,
                                    double probability) {
  if (n == 0 || kept.empty() || kept.size() % n != 0 || !(probability >= 0 && probability <= 1))
    throw Error("[sample_quantile] needs samples [count][n] and 0 <= p <= 1");
  const std::size_t count = kept.size() / n;
  std::vector<double> q(n), values(count);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t s = 0; s < count; ++s) values[s] = kept[s * n + j];
    std::sort(values.begin(), values.end());
    const double at = probability * static_cast<double>(count - 1);
    const auto low = static_cast<std::size_t>(at);
    const double t = at - static_cast<double>(low);
    q[j] = low + 1 < count ? (1 - t) * values[low] + t * values[low + 1] : values[low];
  }
  return q;
}

}  // namespace tessera::inversion
