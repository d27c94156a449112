// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/few_layer.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/random.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

/// Sums over layers i..j-1 of w, w v and w v^2, each in constant time.
class RangeCost {
 public:
  RangeCost(const std::vector<double>& v, const std::vector<double>& w) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      w_.push_back(w_.back() + w[i]);
      wv_.push_back(wv_.back() + w[i] * v[i]);
      wvv_.push_back(wvv_.back() + w[i] * v[i] * v[i]);
    }
  }
  double mean(std::size_t i, std::size_t j) const { return (wv_[j] - wv_[i]) / (w_[j] - w_[i]); }
  double cost(std::size_t i, std::size_t j) const {
    const double s = wv_[j] - wv_[i];
    return wvv_[j] - wvv_[i] - s * s / (w_[j] - w_[i]);
  }

 private:
  std::vector<double> w_{0.0}, wv_{0.0}, wvv_{0.0};
};

std::vector<double> parameters(const LayeredEarth& model) {
  std::vector<double> m;
  for (double rho : model.resistivity_ohm_m) m.push_back(std::log(rho));
  for (double h : model.thickness_m) m.push_back(std::log(h));
  return m;
}

GaussianPrior prior_about(const LayeredEarth& start, double mean_ln_rho,
                          const FewLayerOptions& options) {
  const std::size_t layers = start.resistivity_ohm_m.size();
  GaussianPrior prior;
  prior.mean = parameters(start);
  std::vector<double> precision;
  for (std::size_t j = 0; j < prior.mean.size(); ++j) {
    const double s = j < layers ? options.std_ln_rho : options.std_ln_thickness;
    if (j < layers) prior.mean[j] = mean_ln_rho;
    precision.push_back(1 / (s * s));
  }
  prior.precision = sparse_diagonal(precision);
  return prior;
}

}  // namespace

LayeredEarth segment(const Layering& layering, const std::vector<double>& ln_rho, int n_layers) {
  const std::size_t n = layering.size();
  const auto wanted = static_cast<std::size_t>(n_layers);
  if (ln_rho.size() != n || n_layers < 1 || wanted > n)
    throw Error("[segment] needs one value per layer and 1 to " + std::to_string(n) + " segments");
  std::vector<double> width(n, 1.0);
  for (std::size_t i = 0; n > 1 && i < n; ++i) {
    const double a = layering.log10_depth[i == 0 ? 0 : i - 1];
    const double b = layering.log10_depth[i + 1 == n ? i : i + 1];
    width[i] = 0.5 * (b - a);
  }
  const RangeCost range(ln_rho, width);
  // least[k][j]: cost of the first j layers in k + 1 segments; from[k][j]: where the last one
  // begins.
  std::vector<std::vector<double>> least(wanted, std::vector<double>(n + 1, INFINITY));
  std::vector<std::vector<std::size_t>> from(wanted, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t j = 1; j <= n; ++j) least[0][j] = range.cost(0, j);
  for (std::size_t k = 1; k < wanted; ++k)
    for (std::size_t j = k + 1; j <= n; ++j)
      for (std::size_t i = k; i < j; ++i) {
        const double c = least[k - 1][i] + range.cost(i, j);
        if (c < least[k][j]) {
          least[k][j] = c;
          from[k][j] = i;
        }
      }
  std::vector<std::size_t> cut{n};
  for (std::size_t k = wanted; k-- > 1;) cut.insert(cut.begin(), from[k][cut.front()]);
  const auto z = bottoms(layering.thickness_m);
  LayeredEarth model;
  double top = 0;
  for (std::size_t k = 0, first = 0; k < wanted; first = cut[k++]) {
    model.resistivity_ohm_m.push_back(std::exp(range.mean(first, cut[k])));
    if (k + 1 == wanted) break;
    model.thickness_m.push_back(z[cut[k] - 1] - top);
    top = z[cut[k] - 1];
  }
  return model;
}

FewLayerResult few_layer(const InverseProblem& problem,
                         const std::function<ForwardMap(int n_layers)>& forward,
                         const Layering& layering, const std::vector<double>& smooth_ln_rho,
                         const FewLayerOptions& options) {
  if (options.layers < 0 || options.most_layers < 1 || options.starts < 1)
    throw Error("[few_layer] needs layers >= 0, most_layers >= 1 and starts >= 1");
  double mean = 0;
  for (double v : smooth_ln_rho) mean += v / static_cast<double>(smooth_ln_rho.size());

  FewLayerResult best;
  best.objective = INFINITY;
  std::vector<double> by_layers;
  const int first = options.layers ? options.layers : 1;
  // The start is cut out of the smooth model: no more layers than that has.
  const int last = options.layers
                       ? options.layers
                       : std::min(options.most_layers, static_cast<int>(layering.size()));
  for (int layers = first; layers <= last; ++layers) {
    InverseProblem p = problem;
    p.forward = forward(layers);
    p.fixed.clear();
    const LayeredEarth start = segment(layering, smooth_ln_rho, layers);
    const GaussianPrior prior = prior_about(start, options.mean_ln_rho.value_or(mean), options);
    FewLayerResult here;
    here.objective = INFINITY;
    std::vector<double> objectives;
    for (int s = 0; s < options.starts; ++s) {
      std::vector<double> m = parameters(start);
      const data::RandomKey key{
          options.seed, static_cast<std::uint64_t>(layers) << 32 | static_cast<unsigned>(s)};
      for (std::size_t j = 0; s > 0 && j < m.size(); ++j) m[j] += 0.7 * normal(key, j);
      const GaussNewtonResult r = gauss_newton(p, prior, m, options.newton);
      if (r.reason == Reason::not_finite) continue;
      objectives.push_back(r.objective);
      if (r.objective < here.objective) static_cast<GaussNewtonResult&>(here) = r;
    }
    here.prior = prior;
    here.starts_agreeing =
        static_cast<int>(std::count_if(objectives.begin(), objectives.end(),
                                       [&](double o) { return o <= 1.01 * here.objective; }));
    by_layers.push_back(here.rms);
    // A deeper search is kept only if it fits better: the fewest layers win at equal fit.
    if (!std::isfinite(best.objective) || here.rms < best.rms) best = std::move(here);
    if (best.rms <= options.target_rms) break;
  }
  best.by_layers = std::move(by_layers);
  const std::size_t layers = (best.m.size() + 1) / 2;
  for (std::size_t j = 0; j < best.m.size(); ++j)
    (j < layers ? best.model.resistivity_ohm_m : best.model.thickness_m)
        .push_back(std::exp(best.m[j]));
  if (best.rms <= options.target_rms)
    best.reason = Reason::target_reached;
  else if (options.layers == 0)
    best.reason = Reason::target_not_reached;
  return best;
}

}  // namespace tessera::inversion
