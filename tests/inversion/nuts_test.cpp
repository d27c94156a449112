// SPDX-License-Identifier: Apache-2.0
//
// The no-U-turn sampler beside densities whose moments are known, and beside the random walk of
// sampler.h on a sounding.
#include "tessera/inversion/nuts.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;

/// N(mean, covariance) in two dimensions.
LogDensity gaussian(Numbers mean, double sxx, double sxy, double syy) {
  const double det = sxx * syy - sxy * sxy;
  return {2, [=](const Numbers& x, Numbers& g) {
            const double a = x[0] - mean[0], b = x[1] - mean[1];
            g = {-(syy * a - sxy * b) / det, -(sxx * b - sxy * a) / det};
            return 0.5 * (a * g[0] + b * g[1]);
          }};
}
/// x ~ N(0, 4), y given x ~ N(x^2 / 4, 1): a crescent.
LogDensity banana() {
  return {2, [](const Numbers& x, Numbers& g) {
            const double r = x[1] - 0.25 * x[0] * x[0];
            g = {-x[0] / 4 + 0.5 * r * x[0], -r};
            return -x[0] * x[0] / 8 - 0.5 * r * r;
          }};
}
struct Moments {
  Numbers mean, variance;
};
Moments moments(const Numbers& kept, std::size_t n) {
  Moments m{Numbers(n, 0.0), Numbers(n, 0.0)};
  const double count = static_cast<double>(kept.size() / n);
  for (std::size_t k = 0; k < kept.size(); ++k) m.mean[k % n] += kept[k] / count;
  for (std::size_t k = 0; k < kept.size(); ++k)
    m.variance[k % n] += std::pow(kept[k] - m.mean[k % n], 2) / count;
  return m;
}
std::vector<Numbers> run(const Nuts& nuts_of, Numbers start) {
  NutsChain c = nuts_of.start(std::move(start));
  nuts_of.advance(c, nuts_of.total());
  return {c.kept};
}

TEST(Nuts, HasTheMomentsOfAGaussian) {
  for (const bool with_metric : {false, true}) {
    SCOPED_TRACE(with_metric);
    const Nuts nuts(gaussian({1, -2}, 4, 1.2, 0.5),
                    with_metric ? diagonal_metric({4, 0.5}) : unit_metric(),
                    {.warm_up = 300, .steps = 4000, .key = {5, 1}});
    NutsChain chain = nuts.start({3, 3});
    EXPECT_TRUE(nuts.advance(chain, nuts.total()));
    EXPECT_EQ(chain.divergent, 0u);
    EXPECT_EQ(chain.cut, 0u);
    EXPECT_NEAR(chain.acceptance / 4000, 0.8, 0.1);
    const Moments m = moments(chain.kept, 2);
    const Mixing mixing = mixing_of({chain.kept}, 2);
    double cross = 0;
    for (std::size_t k = 0; k < 4000; ++k)
      cross += (chain.kept[2 * k] - m.mean[0]) * (chain.kept[2 * k + 1] - m.mean[1]) / 4000;
    const Numbers variance{4, 0.5}, mean{1, -2};
    for (std::size_t j = 0; j < 2; ++j) {
      // Four standard errors of so many independent draws.
      EXPECT_NEAR(m.mean[j], mean[j], 4 * std::sqrt(variance[j] / mixing.effective[j]));
      EXPECT_NEAR(m.variance[j], variance[j], 4 * variance[j] * std::sqrt(2 / 1500.0));
      EXPECT_LT(mixing.r_hat[j], 1.01);
    }
    EXPECT_NEAR(cross, 1.2, 0.25);
  }
}

TEST(Nuts, KeepsOneOfSeveral) {
  NutsOptions o{.warm_up = 5, .steps = 11, .key = {5, 2}};
  const auto kept_of = [&](std::uint64_t every) {
    o.keep_every = every;
    const Nuts nuts(gaussian({0, 0}, 1, 0, 1), unit_metric(), o);
    NutsChain chain = nuts.start({0, 0});
    nuts.advance(chain, nuts.total());
    EXPECT_EQ(chain.kept.size(), 2 * chain.kept_density.size());
    return chain.kept;
  };
  const Numbers all = kept_of(1), some = kept_of(3);
  ASSERT_EQ(some.size(), 6u);  // of 11 states the third, sixth and ninth
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(some[k], all[2 * (3 * (k / 2) + 2) + k % 2]);
  EXPECT_TRUE(kept_of(12).empty());
  EXPECT_THROW(kept_of(0), Error);
}

TEST(Nuts, FollowsACrescent) {
  std::vector<Numbers> kept;
  double worst = 0;
  for (std::uint64_t c = 0; c < 4; ++c) {
    const Nuts nuts(banana(), unit_metric(),
                    {.warm_up = 500, .steps = 4000, .target_acceptance = 0.9, .key = {7, c}});
    kept.push_back(run(nuts, {static_cast<double>(c) - 1.5, 1})[0]);
  }
  for (const double r : mixing_of(kept, 2).r_hat) worst = std::max(worst, r);
  EXPECT_LT(worst, 1.02);
  Numbers all;
  for (const Numbers& k : kept) all.insert(all.end(), k.begin(), k.end());
  const Moments m = moments(all, 2);
  EXPECT_NEAR(m.mean[0], 0, 0.15);
  EXPECT_NEAR(m.variance[0], 4, 0.3);
  EXPECT_NEAR(m.mean[1], 1, 0.1);      // E x^2 / 4
  EXPECT_NEAR(m.variance[1], 3, 0.4);  // 1 + var(x^2) / 16
}

// One number with tails: the share within its quartiles, where a wrong weight of states shows.
TEST(Nuts, HasTheQuartilesOfALogisticDensity) {
  const LogDensity logistic{1, [](const Numbers& x, Numbers& g) {
                              const double e = std::exp(-std::abs(x[0]));
                              g = {-std::copysign((1 - e) / (1 + e), x[0])};
                              return -std::abs(x[0]) - 2 * std::log1p(e);
                            }};
  const Nuts nuts(logistic, unit_metric(), {.warm_up = 300, .steps = 8000, .key = {9, 0}});
  const Numbers kept = run(nuts, {0.3})[0];
  const double quartile = std::log(3.0), n = 8000;
  double inside = 0, above = 0;
  for (const double x : kept) inside += std::abs(x)<quartile, above += x> quartile;
  const double error = 4 * std::sqrt(0.25 / mixing_of({kept}, 1).effective[0]);
  EXPECT_NEAR(inside / n, 0.5, error);
  EXPECT_NEAR(above / n, 0.25, error);
}

TEST(Nuts, PiecesGiveTheSameBits) {
  const Nuts nuts(banana(), unit_metric(), {.warm_up = 40, .steps = 60, .key = {3, 2}});
  NutsChain whole = nuts.start({0.1, 0.2}), pieces = whole;
  EXPECT_TRUE(nuts.advance(whole, 1000));
  for (const std::uint64_t until : {7u, 39u, 40u, 41u, 90u})
    EXPECT_FALSE(nuts.advance(pieces, until));
  EXPECT_TRUE(nuts.advance(pieces, 100));
  EXPECT_EQ(whole.kept, pieces.kept);
  EXPECT_EQ(whole.log_step, pieces.log_step);
  EXPECT_EQ(whole.gradients, pieces.gradients);
  EXPECT_EQ(whole.kept.size(), 120u);
}

TEST(Nuts, SaysWhereTrajectoriesGoWrong) {
  // A funnel (R. Neal 2003, doi:10.1214/aos/1056562461): no step is short enough for its neck.
  const LogDensity funnel{2, [](const Numbers& x, Numbers& g) {
                            const double e = std::exp(-x[0]);
                            g = {-x[0] / 9 - 0.5 + 0.5 * x[1] * x[1] * e, -x[1] * e};
                            return -x[0] * x[0] / 18 - 0.5 * x[0] - 0.5 * x[1] * x[1] * e;
                          }};
  const Nuts nuts(funnel, unit_metric(), {.warm_up = 300, .steps = 2000, .key = {1, 0}});
  NutsChain chain = nuts.start({0, 1});
  nuts.advance(chain, nuts.total());
  EXPECT_GT(chain.divergent, 0u);
  // And one that ends: half of the plane has density 0.
  const LogDensity half{1, [](const Numbers& x, Numbers& g) {
                          g = {-1};
                          return x[0] > 0 ? -x[0] : -std::numeric_limits<double>::infinity();
                        }};
  const Nuts edge(half, unit_metric(), {.warm_up = 500, .steps = 4000, .key = {2, 0}});
  const Numbers kept = run(edge, {1})[0];
  EXPECT_GT(*std::min_element(kept.begin(), kept.end()), 0);
  EXPECT_NEAR(moments(kept, 1).mean[0], 1, 0.15);
}

TEST(Nuts, WhatCannotBeIsRefused) {
  EXPECT_THROW(Nuts({}, unit_metric(), {}), Error);
  EXPECT_THROW(Nuts(banana(), unit_metric(), {.target_acceptance = 1}), Error);
  const Nuts nuts(banana(), unit_metric(), {});
  EXPECT_THROW(nuts.start({1}), Error);
  EXPECT_THROW(nuts.start({std::nan(""), 0}), Error);
  NutsChain none;
  EXPECT_THROW(nuts.advance(none, 1), Error);
}

// ---- mixing ----

TEST(Mixing, IndependentDrawsAreWorthThemselves) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<Numbers> chains(4, Numbers(2000));
  for (Numbers& c : chains)
    for (double& v : c) v = normal(random);
  const Mixing m = mixing_of(chains, 2);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_LT(m.r_hat[j], 1.01);
    EXPECT_NEAR(m.effective[j], 4000, 600);
  }
}

// x_k = a x_{k-1} + noise: worth (1 - a) / (1 + a) of its length.
TEST(Mixing, AChainWithMemoryIsWorthLess) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::vector<Numbers> chains(4, Numbers(20000));
  for (Numbers& c : chains) {
    double x = 0;
    for (double& v : c) v = x = 0.8 * x + normal(random);
  }
  EXPECT_NEAR(mixing_of(chains, 1).effective[0], 80000 / 9.0, 1200);
}

TEST(Mixing, ChainsThatDisagreeShow) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<Numbers> shifted(2, Numbers(1000)), wider = shifted;
  for (std::size_t k = 0; k < 1000; ++k) {
    shifted[0][k] = normal(random), shifted[1][k] = normal(random) + 1;
    wider[0][k] = normal(random), wider[1][k] = 3 * normal(random);
  }
  EXPECT_GT(mixing_of(shifted, 1).r_hat[0], 1.1);
  EXPECT_GT(mixing_of(wider, 1).r_hat[0], 1.1);  // by folded ranks alone
  EXPECT_EQ(mixing_of({Numbers(8, 1.0), Numbers(8, 1.0)}, 1).r_hat[0], 1);
  EXPECT_THROW(mixing_of({Numbers(3)}, 1), Error);
  EXPECT_THROW(mixing_of({Numbers(8), Numbers(6)}, 1), Error);
  EXPECT_THROW(mixing_of({}, 1), Error);
}

}  // namespace
}  // namespace tessera::inversion
