// SPDX-License-Identifier: Apache-2.0
//
// Laplace by products beside the dense one, and the sampler on a sounding beside the random walk.
#include "tessera/inversion/low_rank_posterior.h"

#include "smooth_case.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/sampler.h"
#include "tessera/inversion/through.h"
#include "three_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

/// A sounding of three layers, smooth on `n`, with the engine's map.
SmoothCase sounding(int n, int frequencies = 12) {
  SmoothCase c = smooth_case(three_layers::noisy(frequencies), n);
  c.problem.forward = layered_forward(c.response.frequency_hz, c.layering.thickness_m);
  return c;
}
ForwardMap products_alone(const ForwardMap& f) {
  ForwardMap out{.n_parameters = f.n_parameters, .n_data = f.n_data, .predict = f.predict};
  out.linearize = [f](const std::vector<double>& m) {
    LinearMap l = linear_map(f.jacobian(m));
    l.matrix.reset();
    l.from_left = nullptr;
    return l;
  };
  out.curvature = [f](const std::vector<double>& m, const std::vector<double>& y) {
    return linear_map(f.hessian(m, y));
  };
  return out;
}

TEST(LowRankPosterior, IsTheDenseOne) {
  for (const bool fixed : {false, true})
    for (const Hessian hessian : {Hessian::exact, Hessian::gauss_newton}) {
      SmoothCase c = sounding(20);
      if (fixed) c.problem.fixed.assign(20, false), c.problem.fixed[3] = true;
      const GaussianPrior prior = c.smooth.at(0.5);
      const auto fit = gauss_newton(c.problem, prior, c.smooth.mean);
      const Posterior dense = laplace(c.problem, prior, fit.m, hessian);
      c.problem.forward = products_alone(c.problem.forward);
      const LowRankPosterior p =
          low_rank_laplace(c.problem, prior, fit.m, {.hessian = hessian, .smallest = 1e-12});
      EXPECT_TRUE(p.converged);
      EXPECT_EQ(p.exact_hessian, dense.exact_hessian);
      const auto sd = p.standard_deviation();
      for (std::size_t k = 0; k < 20; ++k) {
        if (fixed && k == 3) continue;
        EXPECT_NEAR(sd[k], dense.standard_deviation[k], 1e-7 * dense.standard_deviation[k]) << k;
      }
      EXPECT_NEAR(p.log_determinant, dense.log_determinant, 1e-7);
      // H H^-1 x = x, and the draws' covariance: H^-1/2 (H^-1/2)^T, column by column.
      std::vector<double> x(20);
      for (std::size_t k = 0; k < 20; ++k) x[k] = fixed && k == 3 ? 0 : std::sin(k + 1.0);
      const auto y = linear_map(dense.precision).times(p.covariance_times(x));
      for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(y[k], x[k], 1e-7);
      double variance = 0;
      for (std::size_t k = 0; k < 20; ++k) {
        std::vector<double> xi(20, 0.0);
        xi[k] = 1;
        variance += std::pow(p.draw(xi)[7], 2);
      }
      EXPECT_NEAR(std::sqrt(variance), sd[7], 1e-9);
    }
}

TEST(LowRankPosterior, IsMadeOfItsNumbersAgain) {
  const SmoothCase c = sounding(12);
  const GaussianPrior prior = c.smooth.at(0.5);
  const LowRankPosterior p = low_rank_laplace(c.problem, prior, c.smooth.mean,
                                              {.hessian = Hessian::gauss_newton}),
                         again = low_rank_posterior(prior, p.mean, p.eigenvalue, p.vectors);
  std::vector<double> xi(12);
  for (std::size_t k = 0; k < 12; ++k) xi[k] = std::sin(k + 1.0);
  EXPECT_EQ(again.draw(xi), p.draw(xi));
  EXPECT_EQ(again.log_determinant, p.log_determinant);
  EXPECT_EQ(metric_of(again).draw(xi), metric_of(p).draw(xi));
  EXPECT_THROW(low_rank_posterior(prior, p.mean, {}, p.vectors), Error);
}

TEST(LowRankPosterior, FewEigenvaluesAreEnough) {
  SmoothCase c = sounding(200, 8);
  const GaussianPrior prior = c.smooth.at(0.5);
  const auto fit = gauss_newton(c.problem, prior, c.smooth.mean);
  const Posterior dense = laplace(c.problem, prior, fit.m);
  c.problem.forward = products_alone(c.problem.forward);
  const LowRankPosterior p = low_rank_laplace(c.problem, prior, fit.m);
  EXPECT_TRUE(p.converged);
  EXPECT_LT(p.products, 100u);
  EXPECT_LT(p.eigenvalue.size(), 50u);
  const auto sd = p.standard_deviation();
  for (std::size_t k = 0; k < sd.size(); ++k)
    EXPECT_NEAR(sd[k], dense.standard_deviation[k], 0.01 * dense.standard_deviation[k]);
  // Of the mean of ten neighbours, by the dense covariance.
  SparseMatrix mean = sparse(1, 200, [] {
    std::vector<Entry> e;
    for (std::size_t k = 50; k < 60; ++k) e.push_back({0, k, 0.1});
    return e;
  }());
  std::vector<double> row(200, 0.0);
  for (std::size_t k = 50; k < 60; ++k) row[k] = 0.1;
  const auto back = p.covariance_times(row);
  double variance = 0;
  for (std::size_t k = 50; k < 60; ++k) variance += 0.1 * back[k];
  EXPECT_NEAR(p.standard_deviation(mean)[0], std::sqrt(variance), 1e-9);
  // Too few products are told.
  EXPECT_FALSE(low_rank_laplace(c.problem, prior, fit.m, {.most = 4}).converged);
}

// Two data see one and the same eigenvalue twice: a single start does not, a fresh direction does.
TEST(LowRankPosterior, RepeatedEigenvaluesAreAllFound) {
  Matrix a(4, 6);
  for (std::size_t k = 0; k < 4; ++k) a(k, k) = 2;
  InverseProblem p;
  p.forward.n_parameters = 6, p.forward.n_data = 4;
  p.forward.predict = [a](const std::vector<double>& m) { return linear_map(a).times(m); };
  p.forward.jacobian = [a](const std::vector<double>&) { return a; };
  p.data = p.sigma = {1, 1, 1, 1};
  const GaussianPrior prior{std::vector<double>(6, 0.0), sparse_diagonal({1, 1, 1, 1, 1, 1})};
  const auto post =
      low_rank_laplace(p, prior, std::vector<double>(6, 0.0), {.hessian = Hessian::gauss_newton});
  ASSERT_EQ(post.eigenvalue.size(), 4u);
  for (const double e : post.eigenvalue) EXPECT_NEAR(e, 4, 1e-12);
  EXPECT_NEAR(post.log_determinant, 4 * std::log(5.0), 1e-12);
}

// The mean of Gauss-Newton's precisions, by hand from dense Jacobians at the same draws.
TEST(LowRankPosterior, TheMeanOverDrawsIsThatOfDensePrecisions) {
  InverseProblem p;
  p.forward = engine_map(3, [](const Tensor& x) { return concatenate({sin(x), square(x)}, 0); });
  p.data = std::vector<double>(6, 0.3), p.sigma = std::vector<double>(6, 0.5);
  const GaussianPrior prior{{0, 0, 0}, sparse_diagonal({2, 1, 0.5})};
  const auto at = low_rank_laplace(p, prior, {0.2, -0.1, 0.4});
  const data::RandomKey key{5, 1};
  for (const int draws : {0, 4}) {
    const auto mean = mean_over_draws(p, prior, at, draws, {.smallest = 1e-12, .key = key});
    Matrix sum(3, 3);
    std::uint64_t counter = 0;
    for (int d = 0; d <= draws; ++d) {
      auto x = at.mean;
      if (d > 0) {
        std::vector<double> xi(3);
        for (double& v : xi) v = data::normal({key.seed, ~key.stream}, counter++);
        const auto away = at.draw(xi);
        for (std::size_t k = 0; k < 3; ++k) x[k] += away[k];
      }
      const Matrix j = p.forward.jacobian(x);
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t i = 0; i < 6; ++i) sum(a, b) += j(i, a) * j(i, b) / 0.25 / (draws + 1);
    }
    for (std::size_t k = 0; k < 3; ++k) sum(k, k) += prior.precision(k, k);
    const std::vector<double> v{1, -2, 0.5}, back = mean.covariance_times(linear_map(sum).times(v));
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(back[k], v[k], 1e-10) << draws;
    const double det = sum(0, 0) * (sum(1, 1) * sum(2, 2) - sum(1, 2) * sum(2, 1)) -
                       sum(0, 1) * (sum(1, 0) * sum(2, 2) - sum(1, 2) * sum(2, 0)) +
                       sum(0, 2) * (sum(1, 0) * sum(2, 1) - sum(1, 1) * sum(2, 0));
    EXPECT_NEAR(mean.log_determinant, std::log(det), 1e-10);
  }
  // Data of errors so large say nothing of any direction.
  InverseProblem deaf = p;
  for (double& sigma : deaf.sigma) sigma *= 1e6;
  const auto mass = mass_of_chains(deaf, prior, {0.2, -0.1, 0.4});
  EXPECT_TRUE(mass.eigenvalue.empty());
  const std::vector<double> v{1, -2, 0.5}, back = mass.covariance_times(v);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(back[k] * prior.precision(k, k), v[k], 1e-12);
}

// F(m) = m^2 with a datum far above: half the Hessian of Phi is 2 m^2 ... minus the curvature's
// part, negative between the two optima, so that Gauss-Newton's has to stand in.
TEST(LowRankPosterior, AnIndefiniteHessianIsTold) {
  InverseProblem p;
  p.forward = engine_map(1, [](const Tensor& x) { return square(x); });
  p.data = {4}, p.sigma = {0.1};
  const GaussianPrior prior{{0}, sparse_diagonal({1})};
  const auto post = low_rank_laplace(p, prior, {0.5});
  EXPECT_FALSE(post.exact_hessian);
  // (2 m)^2 / sigma^2 + 1
  EXPECT_NEAR(post.standard_deviation()[0], 1 / std::sqrt(101.0), 1e-12);
  EXPECT_FALSE(laplace(p, prior, {0.5}).exact_hessian);
}

TEST(LogDensity, HasTheGradientOfItsSteps) {
  SmoothCase c = sounding(8);
  const GaussianPrior prior = c.smooth.at(0.5);
  for (const Loss loss : {Loss{}, Loss{Loss::Kind::huber, 1.0}}) {
    c.problem.loss = loss;
    const LogDensity d = log_density(c.problem, prior);
    std::vector<double> m = c.smooth.mean, g(8), unused(8);
    for (std::size_t k = 0; k < 8; ++k) m[k] += 0.3 * std::sin(k + 1.0);
    const double value = d.value(m, g);
    EXPECT_NEAR(
        value,
        -0.5 * (misfit(loss, normalised_residual(c.problem.data, c.problem.forward.predict(m),
                                                 c.problem.sigma)) +
                prior.penalty(m)),
        1e-12 * std::abs(value));
    for (std::size_t k = 0; k < 8; ++k) {
      std::vector<double> up = m, down = m;
      up[k] += 1e-5, down[k] -= 1e-5;
      const double by_steps = (d.value(up, unused) - d.value(down, unused)) / 2e-5;
      EXPECT_NEAR(g[k], by_steps, 1e-6 * std::max(1.0, std::abs(g[k])));
    }
  }
  c.problem.fixed.assign(8, false), c.problem.fixed[0] = true;
  EXPECT_THROW(log_density(c.problem, prior), Error);
}

// Both samplers on one posterior: quantiles of every layer. (With a weight of 0.3 in place of 2
// three walks of 300,000 steps disagree with each other, by up to 0.6 in a 95 % quantile; three of
// these agree to 0.1.)
TEST(Nuts, AgreesWithTheRandomWalkOnASounding) {
  const SmoothCase c = sounding(10);
  const double mu = 2;
  const GaussianPrior prior = c.smooth.at(mu);
  const auto fit = gauss_newton(c.problem, prior, c.smooth.mean);
  const auto post = smooth_posterior(c.problem, c.smoothing(), {mu}, fit.m);
  const Sampler walk(c.problem, c.smoothing(), post,
                     {.burn_in = 5000, .steps = 100000, .keep_every = 10, .key = {4, 0}});
  Chain chain = walk.start();
  walk.advance(chain, walk.total());
  std::vector<std::vector<double>> kept;
  std::vector<double> all;
  for (std::uint64_t k = 0; k < 2; ++k) {
    const Metric metric = k == 0 ? metric_of(low_rank_laplace(c.problem, prior, fit.m))
                                 : metric_of(laplace(c.problem, prior, fit.m));
    const Nuts nuts(log_density(c.problem, prior), metric,
                    {.warm_up = 200, .steps = 2000, .key = {4, k}});
    NutsChain n = nuts.start(fit.m);
    nuts.advance(n, nuts.total());
    EXPECT_EQ(n.divergent, 0u);
    EXPECT_LT(n.gradients, 30000u);  // the metric makes paths short
    all.insert(all.end(), n.kept.begin(), n.kept.end());
    kept.push_back(std::move(n.kept));
  }
  const Mixing mixing = mixing_of(kept, 10), of_walk = mixing_of({chain.kept}, 10);
  for (const double probability : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    const auto a = sample_quantile(all, 10, probability),
               b = sample_quantile(chain.kept, 10, probability);
    for (std::size_t j = 0; j < 10; ++j) {
      const double sd = post.standard_deviation[j];
      // A quantile's error is about 1.2 (at the quartiles) to 2.1 (at 5 %) of sd / sqrt(draws).
      const double draws = 1 / (1 / mixing.effective[j] + 1 / of_walk.effective[j]);
      EXPECT_NEAR(a[j], b[j], 4 * 2.1 * sd / std::sqrt(draws)) << j << ' ' << probability;
      EXPECT_LT(mixing.r_hat[j], 1.02);
    }
  }
}

}  // namespace
}  // namespace tessera::inversion
