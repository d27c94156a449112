// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/posterior.h"

#include "smooth_case.h"
#include "tessera/inversion/smooth_posterior.h"
#include "three_layers.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

// Of fixed sizes, and without Eigen's decompositions: those take seconds to compile.
using Matrix53 = Eigen::Matrix<double, 5, 3>;
using Matrix5 = Eigen::Matrix<double, 5, 5>;
using Vector5 = Eigen::Matrix<double, 5, 1>;

ForwardMap linear_map(const Matrix53& a) {
  ForwardMap f;
  f.n_parameters = static_cast<std::size_t>(a.cols());
  f.n_data = static_cast<std::size_t>(a.rows());
  f.predict = [a](const std::vector<double>& m) {
    const Vector5 d = a * Eigen::Map<const Eigen::Vector3d>(m.data());
    return std::vector<double>(d.data(), d.data() + d.size());
  };
  f.jacobian = [a](const std::vector<double>&) {
    Matrix j(static_cast<std::size_t>(a.rows()), static_cast<std::size_t>(a.cols()));
    std::copy(a.data(), a.data() + a.size(), j.values.begin());
    return j;
  };
  f.hessian = [a](const std::vector<double>&, const std::vector<double>&) {
    return Matrix(static_cast<std::size_t>(a.cols()), static_cast<std::size_t>(a.cols()));
  };
  return f;
}

TEST(Posterior, NormalHalfWidths) {
  EXPECT_NEAR(normal_half_width(0.5), 0.6744897501960817, 1e-12);
  EXPECT_NEAR(normal_half_width(0.9), 1.6448536269514722, 1e-12);
}

// For a linear map everything is known: covariance (A^T A / s^2 + Q)^-1, and the evidence is the
// Gaussian density of the data with covariance A Q^-1 A^T + s^2.
TEST(Posterior, LinearMapByFormula) {
  Matrix53 a;
  a << 1, 2, 0, 0, 1, 1, 3, 0, 1, 1, 1, 1, -1, 2, 4;
  InverseProblem p;
  p.forward = linear_map(a);
  p.data = {1, -2, 0.5, 3, 1};
  p.sigma = {0.5, 0.5, 0.5, 0.5, 0.5};
  const Vector5 d = Eigen::Map<Vector5>(p.data.data());
  const Smoothing smoothing{[](double mu) {
                              return GaussianPrior{{0, 0, 0}, sparse_diagonal({mu, mu, mu})};
                            },
                            [](const std::vector<double>&) { return 0.0; }};
  const double mu = 0.7;
  const auto fit = gauss_newton(p, smoothing.prior(mu), {0, 0, 0});
  const Posterior post = laplace(p, smoothing.prior(mu), fit.m);
  const Eigen::Matrix3d h = a.transpose() * a / 0.25 + mu * Eigen::Matrix3d::Identity();
  const Eigen::Matrix3d c = h.inverse();
  for (int j = 0; j < 3; ++j) EXPECT_NEAR(post.standard_deviation[j], std::sqrt(c(j, j)), 1e-10);

  const std::vector<double> grid{0.1, 0.7, 3.0};
  const SmoothPosterior sp = smooth_posterior(p, smoothing, grid, {0, 0, 0});
  std::vector<double> evidence;
  double sum = 0;
  for (double m : grid) {
    Matrix5 s = a * a.transpose() / m + 0.25 * Matrix5::Identity();
    Vector5 r = d;
    double square = 0, determinant = 1;  // d^T s^-1 d and |s|, by elimination
    for (int k = 0; k < 5; ++k) {
      square += r[k] * r[k] / s(k, k);
      determinant *= s(k, k);
      for (int i = k + 1; i < 5; ++i) {
        r[i] -= s(i, k) / s(k, k) * r[k];
        s.row(i) -= s(i, k) / s(k, k) * s.row(k).eval();
      }
    }
    evidence.push_back(std::exp(-0.5 * square) / std::sqrt(determinant));
    sum += evidence.back();
  }
  ASSERT_EQ(sp.components.size(), 3u);
  for (const auto& component : sp.components) {
    const auto k = std::find(grid.begin(), grid.end(), component.mu) - grid.begin();
    EXPECT_NEAR(component.weight, evidence[static_cast<std::size_t>(k)] / sum, 1e-9);
  }
  // Quantiles: the distribution function of the mixture at its own quantile.
  const auto q = sp.quantile(0.05);
  for (std::size_t j = 0; j < 3; ++j) {
    double prob = 0;
    for (const auto& component : sp.components)
      prob += component.weight * 0.5 *
              std::erfc((component.posterior.mean[j] - q[j]) /
                        (component.posterior.standard_deviation[j] * std::sqrt(2.0)));
    EXPECT_NEAR(prob, 0.05, 1e-9);
  }
}

// What is fixed is known and no datum: the weights are those of the problem without it, whose data
// are what it leaves. Here the parameters are independent a priori, and its value, four standard
// deviations off the mean at one of the weights, says nothing of the others.
TEST(Posterior, FixedParametersDoNotWeighTheRoughness) {
  Matrix53 a;
  a << 1, 2, 0, 0, 1, 1, 3, 0, 1, 1, 1, 1, -1, 2, 4;
  constexpr double value = 2.3;
  InverseProblem p;
  p.forward = linear_map(a);
  p.sigma = {0.5, 0.5, 0.5, 0.5, 0.5};
  Vector5 left;
  left << 1, -2, 0.5, 3, 1;
  const Vector5 d = left + value * a.col(2);
  p.data.assign(d.data(), d.data() + 5);
  InverseProblem without = p;
  without.data.assign(left.data(), left.data() + 5);
  p.fixed = without.fixed = {false, false, true};
  const Smoothing smoothing{[](double mu) {
                              return GaussianPrior{{0, 0, 0}, sparse_diagonal({mu, mu, mu})};
                            },
                            [](const std::vector<double>&) { return 0.0; }};
  const std::vector<double> grid{0.1, 0.7, 3.0};
  const SmoothPosterior fixed = smooth_posterior(p, smoothing, grid, {0, 0, value}),
                        absent = smooth_posterior(without, smoothing, grid, {0, 0, 0});
  ASSERT_EQ(fixed.components.size(), absent.components.size());
  for (std::size_t k = 0; k < fixed.components.size(); ++k) {
    EXPECT_EQ(fixed.components[k].mu, absent.components[k].mu);
    EXPECT_NEAR(fixed.components[k].weight, absent.components[k].weight, 1e-9);
  }
  const auto q = fixed.quantile(0.05), r = absent.quantile(0.05);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(q[j], r[j], 1e-9);
}

// By the formula of a conditional Gaussian, where the fixed parameter is correlated with the
// others.
TEST(Posterior, NormalizationGivenWhatIsFixed) {
  Matrix q(3, 3);
  q.values = {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2};
  const GaussianPrior g{{0.5, -1, 2}, sparse(q)};
  const std::vector<double> m{1, 0.3, 5};
  // Precision of the first two [[4, 1], [1, 3]], determinant 11, about
  // mean - block^-1 (0.5, -1) (5 - 2) = (0.5, -1) - (2.5, -4.5) / 11 * 3.
  const double x = 1 - (0.5 - 7.5 / 11), y = 0.3 - (-1 + 13.5 / 11);
  const double conditional = 4 * x * x + 2 * x * y + 3 * y * y - std::log(11.0);
  EXPECT_NEAR(g.penalty(m) - log_normalization(g, {false, false, true}, m), conditional, 1e-12);
  const double det = 4 * (6 - 1) - 1 * (2 + 0.5) + 0.5 * (-1 - 1.5);
  EXPECT_NEAR(log_normalization(g, {}, m), std::log(det), 1e-12);
}

TEST(Posterior, HessianIsExact) {
  std::mt19937_64 random(8);
  SmoothCase c = smooth_case(oracle::synthetic(oracle::log_frequencies(1e-2, 100, 15),
                                               three_layers::rho, three_layers::h, 0.05, 1, random),
                             12);
  c.smooth.mean.assign(12, std::log(50.0));
  InverseProblem& p = c.problem;
  const SmoothPrior& smooth = c.smooth;
  const GaussianPrior prior = smooth.at(0.5);
  const auto fit = gauss_newton(p, prior, smooth.mean);
  for (const Loss loss : {Loss{}, Loss{Loss::Kind::huber, 1.0}}) {
    p.loss = loss;
    const auto phi = [&](const std::vector<double>& m) {
      return misfit(loss, normalised_residual(p.data, p.forward.predict(m), p.sigma)) +
             prior.penalty(m);
    };
    const Posterior post = laplace(p, prior, fit.m);
    ASSERT_TRUE(post.exact_hessian);
    for (const auto& [i, j] : {std::pair{2u, 2u}, {4u, 5u}, {6u, 3u}, {11u, 11u}}) {
      const double s = 1e-3;
      const auto at = [&](double a, double b) {
        auto m = fit.m;
        m[i] += a * s;
        m[j] += b * s;
        return phi(m);
      };
      const double second = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * s * s);
      EXPECT_NEAR(post.precision(i, j), second / 2, 2e-4 * std::abs(post.precision(i, i)));
    }
  }
}

// A short version of the acceptance run: bands of models drawn from the prior, roughness unknown.
TEST(Posterior, BandsCoverTheTruthAsOftenAsTheySay) {
  const int n = 24, draws = 40;
  const Layering layering = logarithmic_layering(20, 60000, n);
  const auto f = oracle::log_frequencies(1e-3, 1000, 20);
  SmoothPrior smooth;
  smooth.mean.assign(n, std::log(100.0));
  smooth.log10_depth = layering.log10_depth;
  const GaussianPrior truth_prior = [&] {
    SmoothPrior s = smooth;
    s.std_ln_rho = 1.0;
    return s.at(SmoothPrior::mu_of(1.0, 1.0));
  }();
  const Smoothing smoothing = smoothing_of(smooth);
  std::vector<double> grid;
  for (double l = 0.2; l < 25; l *= 2) grid.push_back(SmoothPrior::mu_of(smooth.std_ln_rho, l));
  InverseProblem p;
  p.forward = oracle::layered_forward(f, layering.thickness_m);
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  int inside50 = 0, inside90 = 0;
  for (int k = 0; k < draws; ++k) {
    std::vector<double> xi(n);
    for (double& v : xi) v = normal(random);
    const auto truth = draw(truth_prior, xi);
    p.data = p.forward.predict(truth);
    p.sigma.resize(p.data.size());
    for (std::size_t i = 0; i < p.data.size(); i += 2) {
      const double s = 0.05 * std::hypot(p.data[i], p.data[i + 1]);
      p.sigma[i] = p.sigma[i + 1] = s;
      p.data[i] += s * normal(random);
      p.data[i + 1] += s * normal(random);
    }
    const SmoothPosterior post = smooth_posterior(p, smoothing, grid, smooth.mean);
    const auto q05 = post.quantile(0.05), q25 = post.quantile(0.25), q75 = post.quantile(0.75),
               q95 = post.quantile(0.95);
    for (std::size_t j = 0; j < truth.size(); ++j) {
      inside50 += truth[j] >= q25[j] && truth[j] <= q75[j];
      inside90 += truth[j] >= q05[j] && truth[j] <= q95[j];
    }
  }
  // 40 draws with a handful of independent depths each: two standard errors are 7 and 5 points.
  EXPECT_NEAR(inside50 / double(n * draws), 0.5, 0.1);
  EXPECT_NEAR(inside90 / double(n * draws), 0.9, 0.06);
}

}  // namespace
}  // namespace tessera::inversion
