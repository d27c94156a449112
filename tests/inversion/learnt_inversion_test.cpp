// SPDX-License-Identifier: Apache-2.0
//
// Inversions with a generator that is known: of a layered earth, on earths that it makes and on
// some that it does not.
#include "tessera/inversion/learnt_inversion.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/low_rank_posterior.h"
#include "tessera/inversion/through.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;
constexpr std::size_t n_layers = 12;

/// log10 rho = 2 + 0.8 z_0 + a step of z_1 below a depth that z_2 moves.
Tensor step_of(const Tensor& z) {
  const Tensor a = slice(z, 0, 0, 1), b = slice(z, 0, 1, 2), c = slice(z, 0, 2, 3);
  const Tensor at = arange(n_layers, Dtype::f64);
  return 2.0 + 0.8 * a + b / (1.0 + exp(-2.0 * (at - 6.0 - 1.5 * c)));
}
Generator steps() {
  return {3,
          {n_layers},
          step_of,
          [](const Tensor& z) { return -0.5 * sum(square(z)); },
          // Its codes of a model, but for the place of the step.
          [](const Tensor& m) {
            const Tensor top = slice(m, 0, 0, 1), bottom = slice(m, 0, 11, 12);
            return concatenate({(top - 2.0) / 0.8, bottom - top, zeros({1})}, 0);
          }};
}

struct SteppedEarth {
  InverseProblem problem;
  LearntModel model;
  GaussianPrior prior;
};
/// Data of 5 % of an earth; pixels are what the generator is wrong by, 0.02 decades.
SteppedEarth stepped_earth(const Numbers& ln_rho, std::uint64_t seed) {
  SteppedEarth e;
  Numbers thickness, frequency, at;
  CellPoints points{.axes = 1};
  for (std::size_t k = 0; k < n_layers; ++k) {
    if (k + 1 < n_layers) thickness.push_back(30 * std::pow(1.5, static_cast<double>(k)));
    points.at.push_back(static_cast<double>(k) + 0.5);
    points.cell.push_back(k);
  }
  for (int k = 0; k < 20; ++k) frequency.push_back(std::pow(10.0, 3.5 - 0.25 * k));
  e.problem.forward = layered_forward(frequency, thickness);
  e.problem.data = e.problem.forward.predict(ln_rho);
  for (std::size_t i = 0; i < e.problem.data.size(); ++i) {
    const std::size_t pair = i - i % 2;
    const double s = 0.05 * std::hypot(e.problem.data[pair], e.problem.data[pair + 1]);
    e.problem.sigma.push_back(s);
  }
  for (std::size_t i = 0; i < e.problem.data.size(); ++i)
    e.problem.data[i] += e.problem.sigma[i] * data::normal({seed, 0}, i);
  e.model = learnt_model({steps()}, {{.bounds = {{0, n_layers}}}}, points, Numbers(n_layers, 0.0),
                         sparse_diagonal(Numbers(n_layers, 1.0)));
  e.prior =
      e.model.prior({Numbers(n_layers, 0.0),
                     sparse_diagonal(Numbers(n_layers, std::pow(0.02 * std::numbers::ln10, -2)))});
  return e;
}
Numbers ln_of(const Numbers& z) {
  Numbers m = step_of(tensor(z)).to_vector();
  for (double& v : m) v *= std::numbers::ln10;
  return m;
}
std::vector<HeldOut> of_its_kind() {
  return {{normal(random_key(15), {500, 3}), 0.02 * normal(random_key(14), {500, n_layers})}};
}

// Codes that no held-out section has are a reason of their own, whatever they cost.
TEST(LearntInversion, LargerCodesThanHeldOutOnesAreDoubted) {
  LearntResult r;
  r.n_data = 100, r.objective = 90, r.code_norm = {1.0};
  const HeldOut held_out{tensor({0.5, 0.5, 1.5, -0.5}, {2, 2}), zeros({2, 4})};  // 0.25, 1.25
  EXPECT_TRUE(doubts_of(r, {held_out}).empty());
  r.code_norm = {1.26};
  const auto doubts = doubts_of(r, {held_out});
  ASSERT_EQ(doubts.size(), 1u);
  EXPECT_EQ(doubts[0],
            "codes have a mean square of 1.260, that of 2 held-out sections is 1.250 at most");
  r.code_norm = {NAN}, r.objective = NAN;
  EXPECT_EQ(doubts_of(r, {held_out}).size(), 2u);
}

// Held-out sections are those of the generator.
TEST(LearntInversion, HeldOutSectionsOfOtherSizesAreRefused) {
  const SteppedEarth e = stepped_earth(ln_of({0, 0, 0}), 3);
  for (const HeldOut& h :
       {HeldOut{zeros({5, 2}), zeros({5, n_layers})}, HeldOut{zeros({5, 3}), zeros({4, n_layers})}})
    EXPECT_THROW(invert_learnt(e.problem, e.model, e.prior, {}, {.held_out = {h}}), Error);
}

TEST(LearntInversion, FindsAnEarthOfItsKind) {
  const Numbers truth{0.7, -1.4, 0.4};
  const SteppedEarth e = stepped_earth(ln_of(truth), 3);
  const Numbers smooth(n_layers, std::log(100.0));
  const LearntResult r = invert_learnt(e.problem, e.model, e.prior, smooth, {.draws = 3});
  EXPECT_EQ(r.reason, Reason::converged);
  ASSERT_EQ(r.starts.size(), 5u);
  EXPECT_EQ(r.starts[0].name, "zero");
  EXPECT_EQ(r.starts[1].name, "smooth");
  EXPECT_EQ(r.starts[4].name, "draw 3");
  for (const LearntStart& s : r.starts) EXPECT_GE(s.objective, r.starts[r.start].objective);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(r.m[n_layers + k], truth[k], 0.25) << k;
  EXPECT_NEAR(r.rms, 1, 0.25);
  // The parts of the objective are what they are said to be.
  EXPECT_NEAR(r.objective, r.misfit + r.codes_cost + r.pixels_cost, 1e-9 * r.objective);
  double z2 = 0, p2 = 0, difference = 0;
  for (std::size_t k = 0; k < 3; ++k) z2 += r.m[n_layers + k] * r.m[n_layers + k];
  for (std::size_t k = 0; k < n_layers; ++k) {
    p2 += std::pow(r.m[k] / (0.02 * std::numbers::ln10), 2);
    difference += std::pow((r.cells[k] - smooth[k]) / std::numbers::ln10, 2) / n_layers;
  }
  EXPECT_NEAR(r.codes_cost, z2, 1e-12);
  EXPECT_NEAR(r.pixels_cost, p2, 1e-9);
  EXPECT_NEAR(r.code_norm[0], z2 / 3, 1e-12);
  EXPECT_NEAR(r.from_smooth, std::sqrt(difference), 1e-12);
  EXPECT_TRUE(doubts_of(r, of_its_kind()).empty());
  EXPECT_TRUE(std::isnan(invert_learnt(e.problem, e.model, e.prior, {}).from_smooth));
}

// Steps are counted over rounds, starts by the tangent among them; a search that goes on has none.
TEST(LearntInversion, TakesNoMoreStepsThanAskedForInAllItsRounds) {
  const SteppedEarth e = stepped_earth(ln_of({0.7, -1.4, 0.4}), 3);
  for (const int most : {1, 2, 3}) {
    const LearntResult r = invert_learnt(e.problem, e.model, e.prior, {},
                                         {.newton = {.max_iterations = most}, .rounds = 5});
    EXPECT_EQ(r.reason, Reason::iteration_limit) << most;
    EXPECT_EQ(r.iterations.size(), static_cast<std::size_t>(most));
    EXPECT_EQ(r.iterations[0].forwards, static_cast<int>(r.starts.size()));
    const LearntResult on =
        invert_learnt(e.problem, e.model, e.prior, {},
                      {.newton = {.max_iterations = most}, .from = LearntStart{"zero", r.m}});
    EXPECT_LE(on.iterations.size(), static_cast<std::size_t>(most));
    EXPECT_LT(on.objective, r.objective);
  }
}

// What a round has to gain is in errors that are right: with a scale beyond all gains none is
// taken.
TEST(LearntInversion, ErrorsTooSmallAskForLargerGains) {
  const SteppedEarth e = stepped_earth(ln_of({0.7, -1.4, 0.4}), 3);
  const LearntResult right = invert_learnt(e.problem, e.model, e.prior, {}),
                     small = invert_learnt(e.problem, e.model, e.prior, {}, {.error_scale = 1e6});
  EXPECT_EQ(right.reason, Reason::converged);
  EXPECT_EQ(small.reason, Reason::converged);
  EXPECT_EQ(small.iterations.size(), 1u);  // the start alone
  EXPECT_GT(right.iterations.size(), 1u);
}

// A linear earth of hundreds of data: the start is the minimum, and it and what earths cost are
// those of dense matrices, whether data tell of few combinations of cells or of as many as they
// are.
TEST(LearntInversion, OfALinearEarthTheStartIsTheMinimum) {
  constexpr std::size_t n_data = 300, n = 320;
  const Tensor decoder = 0.3 * normal(random_key(41), {n, 2});
  const Generator g{2,
                    {n},
                    [=](const Tensor& z) { return matmul(decoder, z); },
                    [](const Tensor& z) { return -0.5 * sum(square(z)); }};
  CellPoints points{.axes = 1};
  for (std::size_t k = 0; k < n; ++k)
    points.at.push_back(static_cast<double>(k) + 0.5), points.cell.push_back(k);
  const LearntModel model = learnt_model({g}, {{.bounds = {{0, double(n)}}}}, points,
                                         Numbers(n, 0.0), sparse_diagonal(Numbers(n, 1.0)));
  const GaussianPrior prior = model.prior({Numbers(n, 0.1), sparse_diagonal(Numbers(n, 4.0))});
  const HeldOut held_out{normal(random_key(42), {3, 2}), 0.1 * normal(random_key(43), {3, n})};
  for (const Index told_of : {40, 300}) {
    const Tensor a =
        matmul(normal(random_key(44), {n_data, told_of}), normal(random_key(45), {told_of, n})) /
        std::sqrt(double(n * told_of));
    InverseProblem p;
    p.forward = engine_map(n, [=](const Tensor& m) { return matmul(a, m); });
    p.data = normal(random_key(46), {n_data}).to_vector();
    p.sigma = Numbers(n_data, 0.2);
    std::vector<Iteration> steps;
    const LearntResult r = invert_learnt(
        p, model, prior, {},
        {.held_out = {held_out}, .on_step = [&](const Iteration& i) { steps.push_back(i); }});
    EXPECT_EQ(r.reason, Reason::converged);
    ASSERT_EQ(r.iterations.size(), 1u);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].number, 1);
    EXPECT_EQ(steps[0].objective, r.iterations[0].objective);

    const auto dense_of = [](const Tensor& t) {
      const Numbers v = t.to_vector();
      return Eigen::MatrixXd(
          Eigen::Map<const Eigen::MatrixXd>(v.data(), t.dim(1), t.dim(0)).transpose());
    };
    const Eigen::MatrixXd j = dense_of(a) / 0.2, k = std::numbers::ln10 * j * dense_of(decoder),
                          one = Eigen::MatrixXd::Identity(n_data, n_data),
                          v = one + k * k.transpose() + 0.25 * j * j.transpose();
    const Eigen::LLT<Eigen::MatrixXd> llt(v);
    const Eigen::VectorXd residual =
        Eigen::Map<const Eigen::VectorXd>(p.data.data(), n_data) / 0.2 -
        j * Eigen::VectorXd::Constant(n, 0.1);
    const double least = residual.dot(llt.solve(residual));
    EXPECT_NEAR(r.objective, least, 1e-6 * least) << told_of;
    // Where generators speak everywhere their errors stand for pixels: G is the identity.
    const Eigen::MatrixXd inverse = llt.solve(one);
    ASSERT_EQ(r.expected.size(), 3u);
    for (Index t = 0; t < 3; ++t) {
      const Eigen::VectorXd d =
          std::numbers::ln10 * j * dense_of(reshape(slice(held_out.errors, 0, t, t + 1), {n, 1})) +
          k * dense_of(reshape(slice(held_out.codes, 0, t, t + 1), {2, 1}));
      const Eigen::VectorXd w = inverse * d;
      const double mean = (inverse.trace() + d.dot(w)) / n_data,
                   variance = 2 * (inverse.squaredNorm() + 2 * w.squaredNorm()) /
                              (double(n_data) * n_data);
      EXPECT_NEAR(r.expected[std::size_t(t)].mean, mean, 1e-9 * mean);
      EXPECT_NEAR(r.expected[std::size_t(t)].variance, variance, 1e-9 * variance);
    }
  }
}

// Under the right prior one earth in some hundred is doubted for what it costs, and as many for
// their codes; 40 are drawn.
TEST(LearntInversion, FewOfItsKindAreDoubtedAndMostOfAnother) {
  const LearntOptions options{.held_out = of_its_kind()};
  int own = 0, other = 0;
  double cost = 0;
  for (std::uint64_t k = 0; k < 40; ++k) {
    Numbers z(3);
    for (std::size_t j = 0; j < 3; ++j) z[j] = data::normal({12, k}, j);
    Numbers m = ln_of(z);
    for (std::size_t c = 0; c < n_layers; ++c)
      m[c] += 0.02 * std::numbers::ln10 * data::normal({13, k}, c);
    const SteppedEarth e = stepped_earth(m, 100 + k);
    const LearntResult r = invert_learnt(e.problem, e.model, e.prior, {}, options);
    own += !doubts_of(r, options.held_out).empty();
    cost += r.objective / static_cast<double>(r.n_data) / 40;
    // A conductor between resistors, which no step is.
    for (std::size_t c = 0; c < n_layers; ++c) m[c] = std::log(c > 3 && c < 7 ? 3.0 : 300.0);
    const SteppedEarth wrong = stepped_earth(m, 200 + k);
    other += !doubts_of(invert_learnt(wrong.problem, wrong.model, wrong.prior, {}, options),
                        options.held_out)
                  .empty();
  }
  EXPECT_NEAR(cost, 1, 0.12);  // chi-squared of 40 data: 0.22 each, 0.035 of 40
  EXPECT_LE(own, 3);
  EXPECT_EQ(other, 40);
}

// Huber's loss costs less than squares, of the prior's kind as of others.
TEST(LearntInversion, DoubtsOfARobustLossAreThatLosss) {
  const LearntOptions options{.held_out = of_its_kind()};
  for (const double corner : {0.2, 1.345}) {
    int own = 0, other = 0;
    double cost = 0, expected = 0;
    for (std::uint64_t k = 0; k < 40; ++k) {
      Numbers z(3);
      for (std::size_t j = 0; j < 3; ++j) z[j] = data::normal({12, k}, j);
      Numbers m = ln_of(z);
      for (std::size_t c = 0; c < n_layers; ++c)
        m[c] += 0.02 * std::numbers::ln10 * data::normal({13, k}, c);
      SteppedEarth e = stepped_earth(m, 100 + k);
      e.problem.loss = {Loss::Kind::huber, corner};
      const LearntResult r = invert_learnt(e.problem, e.model, e.prior, {}, options);
      own += !doubts_of(r, options.held_out).empty();
      cost += r.objective / static_cast<double>(r.n_data) / 40;
      for (const ExpectedCost& x : r.expected) expected += x.mean / double(r.expected.size()) / 40;
      for (std::size_t c = 0; c < n_layers; ++c) m[c] = std::log(c > 3 && c < 7 ? 3.0 : 300.0);
      SteppedEarth wrong = stepped_earth(m, 200 + k);
      wrong.problem.loss = e.problem.loss;
      other += !doubts_of(invert_learnt(wrong.problem, wrong.model, wrong.prior, {}, options),
                          options.held_out)
                    .empty();
    }
    EXPECT_NEAR(cost / expected, 1, 0.15) << corner;
    EXPECT_LE(own, 3) << corner;
    EXPECT_GE(other, 36) << corner;
  }
}

/// What a result must cost a datum to be doubted.
double bound_of(LearntResult r) {
  double low = 0, high = 10;
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (low + high);
    r.objective = middle * static_cast<double>(r.n_data);
    (doubts_of(r, {}).empty() ? low : high) = middle;
  }
  return high;
}

// Of 1000 data, whose variance is by nine tenths that of pixels in 200 directions, for sections
// that the decoder is wrong by more or less: the logarithm of it scatters by 0.4.
TEST(LearntInversion, OneInFiveHundredIsDoubtedWhereErrorsDifferFromSectionToSection) {
  constexpr std::size_t n = 1000, of_pixels = 200, sections = 500;
  constexpr double part = 0.9;
  LearntResult r;
  r.n_data = n, r.code_norm = {0};
  EXPECT_NEAR(bound_of(r), 1.13358, 2e-4);  // chi-squared's table
  std::vector<Numbers> error(sections, Numbers(of_pixels));
  for (std::uint64_t k = 0; k < sections; ++k) {
    const double size = std::exp(0.4 * data::normal({22, 0}, k));
    double square = 0;
    for (std::size_t i = 0; i < of_pixels; ++i) {
      error[k][i] = size * std::sqrt(part) * data::normal({23, k}, i);
      square += error[k][i] * error[k][i];
    }
    r.expected.push_back(
        {(n - part * of_pixels + square) / n,
         2 * (n - of_pixels + of_pixels * (1 - part) * (1 - part) + 2 * square * (1 - part)) /
             double(n * n)});
  }
  const double bound = bound_of(r);
  EXPECT_GT(bound, 1.3);
  int above = 0;
  constexpr int drawn = 20000;
  for (std::uint64_t k = 0; k < drawn; ++k) {
    double cost = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double u = data::normal({21, k}, i);
      cost += std::pow(i < of_pixels ? std::sqrt(1 - part) * u + error[k % sections][i] : u, 2) / n;
    }
    above += cost > bound;
  }
  EXPECT_NEAR(above, drawn / 500, 4 * std::sqrt(drawn / 500));  // Poisson
}

// Where physics and decoder are linear the draws' mean is the minimum, and earths cost what they
// are said to.
TEST(LearntInversion, TheMeanOfDrawsIsTheMinimumWhereAllIsLinear) {
  const std::size_t n = 6;
  Generator g{2,
              {6},
              [](const Tensor& z) {
                return matmul(
                    tensor(Numbers{1, 0.2, 0.5, -1, 0.3, 0.8, 1, 1, -0.4, 0.1, 0.6, 0.2}, {6, 2}),
                    z);
              },
              [](const Tensor& z) { return -0.5 * sum(square(z)); }};
  CellPoints points{.axes = 1};
  for (std::size_t k = 0; k < n; ++k)
    points.at.push_back(static_cast<double>(k) + 0.5), points.cell.push_back(k);
  const LearntModel model = learnt_model({g}, {{.bounds = {{0, 6}}}}, points, Numbers(n, 0.0),
                                         sparse_diagonal(Numbers(n, 1.0)));
  const GaussianPrior prior = model.prior({Numbers(n, 0.0), sparse_diagonal(Numbers(n, 1 / 0.09))});
  InverseProblem p;
  p.forward = engine_map(n, [](const Tensor& m) {
    return matmul(reshape(sin(arange(24, Dtype::f64)), {4, 6}), m);
  });
  p.data = {1, -2, 0.5, 3}, p.sigma = {0.5, 0.4, 0.6, 0.5};
  const HeldOut held_out{normal(random_key(2), {4, 2}), 0.3 * normal(random_key(3), {4, 6})};
  const LearntResult r =
      invert_learnt(p, model, prior, {}, {.held_out = {held_out}, .posterior_draws = 2000});
  EXPECT_EQ(r.reason, Reason::converged);
  const Matrix j =
      p.forward.jacobian ? p.forward.jacobian(r.cells) : dense(linearized(p.forward, r.cells));
  const Matrix k = dense(linearized(model.map(), r.m));
  Eigen::MatrixXd a(4, 6), d(6, 8);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t c = 0; c < 6; ++c) a(Eigen::Index(i), Eigen::Index(c)) = j(i, c) / p.sigma[i];
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t c = 0; c < 8; ++c) d(Eigen::Index(i), Eigen::Index(c)) = k(i, c);
  const Eigen::MatrixXd codes = a * d.rightCols(2), b = 0.09 * a * a.transpose();
  // What earths cost that the decoder is wrong by e: drawn, and searched by the dense covariance.
  const Eigen::LLT<Eigen::MatrixXd> v(Eigen::MatrixXd::Identity(4, 4) + b +
                                      codes * codes.transpose());
  ASSERT_EQ(r.expected.size(), 4u);
  for (std::size_t t = 0; t < 4; ++t) {
    const Numbers e = slice(held_out.errors, 0, Index(t), Index(t) + 1).to_vector(),
                  z = slice(held_out.codes, 0, Index(t), Index(t) + 1).to_vector();
    Eigen::VectorXd wrong(6);
    for (Eigen::Index c = 0; c < 6; ++c) wrong[c] = std::numbers::ln10 * e[std::size_t(c)];
    constexpr int drawn = 20000;
    double sum = 0, squares = 0;
    for (std::uint64_t k = 0; k < drawn; ++k) {
      Eigen::VectorXd noise(4);
      for (Eigen::Index c = 0; c < 4; ++c) noise[c] = data::normal({32, k}, std::uint64_t(c));
      const Eigen::VectorXd residual = noise + codes * Eigen::Vector2d(z[0], z[1]) + a * wrong;
      const double cost = residual.dot(v.solve(residual)) / 4;
      sum += cost, squares += cost * cost;
    }
    const double mean = sum / drawn, variance = squares / drawn - mean * mean;
    EXPECT_NEAR(r.expected[t].mean, mean, 4 * std::sqrt(variance / drawn)) << t;
    EXPECT_NEAR(r.expected[t].variance, variance, 0.06 * variance) << t;
  }
  // Codes' covariance given data, pixels integrated out; of cells: what their draws scatter by.
  const Eigen::MatrixXd h =
      (Eigen::MatrixXd::Identity(2, 2) +
       codes.transpose() * (Eigen::MatrixXd::Identity(4, 4) + b).inverse() * codes)
          .inverse();
  for (std::size_t c = 0; c < n; ++c) {
    const double sd = std::sqrt(
        (d.rightCols(2) * h * d.rightCols(2).transpose())(Eigen::Index(c), Eigen::Index(c)));
    EXPECT_NEAR(r.mean[c], r.cells[c], 4 * sd / std::sqrt(2000.0) + 1e-6);
  }
  EXPECT_NEAR(r.mean_rms, r.rms, 0.1);
}

// Beyond the region cells are free by decades of their own, for which no error of a decoder stands:
// earths that are drawn with codes, errors and that freedom cost what they are said to.
TEST(LearntInversion, WhatIsFreeBeyondTheRegionCostsWhatItIsSaidTo) {
  constexpr std::size_t n = 6;
  const Numbers decoder{1, 0.2, 0.5, -1, 0.3, 0.8, 1, 1};
  Generator g{2,
              {4},
              [=](const Tensor& z) {
                return matmul(tensor(decoder, {4, 2}), z);
              },
              [](const Tensor& z) { return -0.5 * sum(square(z)); }};
  CellPoints points{.axes = 1};
  for (std::size_t k = 0; k < n; ++k)
    points.at.push_back(static_cast<double>(k) + 0.5), points.cell.push_back(k);
  LearntModel model = learnt_model({g}, {{.bounds = {{0, 4}}, .beyond = {{true, true}}}}, points,
                                   Numbers(n, 0.0), sparse_diagonal(Numbers(n, 1.0)));
  EXPECT_EQ(model.decoder_part, Numbers(n, 1.0));  // its outermost number goes on
  model.decoder_part = {1, 1, 1, 1, 0, 0};
  InverseProblem p;
  p.forward = engine_map(n, [](const Tensor& m) {
    return matmul(reshape(sin(arange(24, Dtype::f64)), {4, 6}), m);
  });
  p.data = {1, -2, 0.5, 3}, p.sigma = {0.5, 0.4, 0.6, 0.5};
  const HeldOut held_out{normal(random_key(2), {3, 2}), 0.1 * normal(random_key(3), {3, 4})};
  Eigen::MatrixXd a(4, n), into = Eigen::MatrixXd::Zero(n, 2);
  for (Eigen::Index c = 0; c < Eigen::Index(n); ++c) {
    for (Eigen::Index i = 0; i < 4; ++i)
      a(i, c) = std::sin(double(6 * i + c)) / p.sigma[std::size_t(i)];
    for (Eigen::Index j = 0; j < 2; ++j)
      into(c, j) = std::numbers::ln10 * decoder[std::size_t(2 * std::min<Eigen::Index>(c, 3) + j)];
  }
  for (const double free : {0.1, 1.0, 4.0}) {
    Eigen::MatrixXd s(n, n);
    const auto sd = [&](Eigen::Index c) { return c < 4 ? 0.2 : free; };
    for (Eigen::Index i = 0; i < s.rows(); ++i)
      for (Eigen::Index j = 0; j < s.cols(); ++j)
        s(i, j) = sd(i) * sd(j) * std::pow(0.5, std::abs(double(i - j)));
    const Eigen::MatrixXd precision = s.inverse(), codes = a * into;
    Matrix q(n, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) q(i, j) = precision(Eigen::Index(i), Eigen::Index(j));
    const LearntResult r = invert_learnt(p, model, model.prior({Numbers(n, 0.0), sparse(q)}), {},
                                         {.held_out = {held_out}});
    const Eigen::LLT<Eigen::MatrixXd> v(Eigen::MatrixXd::Identity(4, 4) + a * s * a.transpose() +
                                        codes * codes.transpose());
    ASSERT_EQ(r.expected.size(), 3u);
    for (std::size_t t = 0; t < 3; ++t) {
      const Numbers e = slice(held_out.errors, 0, Index(t), Index(t) + 1).to_vector(),
                    z = slice(held_out.codes, 0, Index(t), Index(t) + 1).to_vector();
      constexpr int drawn = 20000;
      double sum = 0, squares = 0;
      for (std::uint64_t k = 0; k < drawn; ++k) {
        Eigen::VectorXd m(n), noise(4);
        for (Eigen::Index c = 0; c < Eigen::Index(n); ++c)
          m[c] = std::numbers::ln10 * e[std::size_t(std::min<Eigen::Index>(c, 3))];
        const double u = data::normal({33, k}, 4);
        m[4] += free * u;
        m[5] += free * (0.5 * u + std::sqrt(0.75) * data::normal({33, k}, 5));
        for (Eigen::Index c = 0; c < 4; ++c) noise[c] = data::normal({33, k}, std::uint64_t(c));
        const Eigen::VectorXd residual = noise + codes * Eigen::Vector2d(z[0], z[1]) + a * m;
        const double cost = residual.dot(v.solve(residual)) / 4;
        sum += cost, squares += cost * cost;
      }
      const double mean = sum / drawn, variance = squares / drawn - mean * mean;
      EXPECT_NEAR(r.expected[t].mean, mean, 4 * std::sqrt(variance / drawn)) << free;
      EXPECT_NEAR(r.expected[t].variance, variance, 0.06 * variance) << free;
    }
  }
}

}  // namespace
}  // namespace tessera::inversion
