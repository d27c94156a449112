// SPDX-License-Identifier: Apache-2.0
//
// Generators placed among cells: by hand on few cells, and behind the layered earth.
#include "tessera/inversion/learnt_model.h"

#include "forward_checks.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/gauss_newton.h"
#include "tessera/inversion/through.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;
constexpr double ln10 = std::numbers::ln10;

/// D(z)_j = z_0 + z_1 j / n + sin(z_0 z_1) j^2 / n^2 over all numbers of the array.
Generator curved(const Shape& shape) {
  const Index n = shape.count();
  return {2, shape,
          [=](const Tensor& z) {
            const Tensor t = arange(n, Dtype::f64) / static_cast<double>(n);
            const Tensor a = slice(z, 0, 0, 1), b = slice(z, 0, 1, 2);
            return reshape(a + b * t + sin(a * b) * t * t, shape);
          },
          [](const Tensor& z) { return -0.5 * sum(square(z)); }};
}
double curved_at(double a, double b, double j, double n) {
  const double t = j / n;
  return a + b * t + std::sin(a * b) * t * t;
}
SparseMatrix identity(std::size_t n) { return sparse_diagonal(Numbers(n, 1.0)); }

// Points at the middles of the array's own parts take its numbers; between two, their mean; beyond
// the outermost, these; outside, the background.
TEST(LearntModel, NumbersComeToTheirPlaces) {
  const CellPoints points{
      .axes = 1, .at = {-0.5, 0.1, 0.5, 1, 3.5, 3.9, 4.1}, .cell = {0, 1, 2, 3, 4, 5, 6}};
  const LearntModel m =
      learnt_model({curved({4})}, {{.bounds = {{0, 4}}}}, points, Numbers(7, 2.5), {});
  const Numbers x{0.3, -1.2}, y = m.map().predict(x);
  const auto d = [](double j) { return ln10 * curved_at(0.3, -1.2, j, 4); };
  const Numbers expected{2.5, d(0), d(0), 0.5 * (d(0) + d(1)), d(3), d(3), 2.5};
  for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(y[k], expected[k], 1e-14) << k;
  EXPECT_EQ(m.outside, (Numbers{1, 0, 0, 0, 0, 0, 1}));
}

TEST(LearntModel, TheOutermostNumbersGoOnWhereTheyAreToldTo) {
  const CellPoints points{.axes = 1, .at = {-3, 0.5, 5}, .cell = {0, 1, 2}};
  const LearntModel m =
      learnt_model({curved({4})}, {{.bounds = {{0, 4}}, .beyond = {{true, false}}}}, points,
                   Numbers(3, 2.5), {});
  const Numbers y = m.map().predict({0.3, -1.2});
  EXPECT_NEAR(y[0], ln10 * 0.3, 1e-14);
  EXPECT_NEAR(y[2], 2.5, 1e-14);
}

TEST(LearntModel, WeightsFallAtTheRimAndAddUpToOne) {
  // Two regions that overlap over [3, 4], each fading there over its last quarter.
  const Region left{.bounds = {{0, 4}}, .fade = {{0, 0.25}}},
      right{.bounds = {{3, 7}}, .fade = {{0.25, 0}}};
  const CellPoints points{.axes = 1, .at = {1, 3.25, 3.75, 6}, .cell = {0, 1, 2, 3}};
  const LearntModel m =
      learnt_model({curved({4}), curved({4})}, {left, right}, points, Numbers(4, 1.0), {});
  for (const double w : m.outside) EXPECT_NEAR(w, 0, 1e-15);
  EXPECT_NEAR(m.into[0].times(Numbers(4, 1.0))[1], 0.75 * ln10, 1e-14);
  EXPECT_NEAR(m.into[1].times(Numbers(4, 1.0))[1], 0.25 * ln10, 1e-14);
  // Without fading they share evenly.
  const LearntModel even =
      learnt_model({curved({4}), curved({4})}, {{{{0, 4}}}, {{{3, 7}}}}, points, Numbers(4, 1), {});
  EXPECT_NEAR(even.into[1].times(Numbers(4, 1.0))[2], 0.5 * ln10, 1e-14);
  EXPECT_EQ(m.size(), 4u);
  EXPECT_EQ(m.first_code(1), 2u);
}

// Linear functions of two axes are met exactly between the outermost middles; a cell of two points
// has their mean.
TEST(LearntModel, ArraysOfTwoAxesAreInterpolatedLinearly) {
  Generator plane{1,
                  {3, 5},
                  [](const Tensor& z) {
                    const Tensor i = reshape(arange(3, Dtype::f64), {3, 1}),
                                 j = reshape(arange(5, Dtype::f64), {1, 5});
                    return z * (2.0 * i + 0.5 * j);
                  },
                  [](const Tensor& z) { return -0.5 * sum(square(z)); }};
  // z down in [0, 300], y in [-1000, 1500]: middles at 50, 150, 250 and -750, -250, ...
  const Region r{.bounds = {{0, 300}, {-1000, 1500}}};
  const CellPoints points{.axes = 2, .at = {110, 330, 60, -500, 220, 1100}, .cell = {0, 1, 1}};
  const LearntModel m = learnt_model({plane}, {r}, points, {0, 0}, {});
  const auto at = [](double z, double y) {
    return ln10 * (2 * (z - 50) / 100 + 0.5 * (y + 750) / 500);
  };
  const Numbers y = m.map().predict({1});
  EXPECT_NEAR(y[0], at(110, 330), 1e-13);
  EXPECT_NEAR(y[1], 0.5 * (at(60, -500) + at(220, 1100)), 1e-13);
}

/// A layered earth of six, the lower four of which a generator of three numbers tells, pixels over
/// all.
struct Layers {
  LearntModel model;
  ForwardMap data;
  Layers() {
    const CellPoints points{
        .axes = 1, .at = {100, 300, 500, 700, 900, 1100}, .cell = {0, 1, 2, 3, 4, 5}};
    model = learnt_model({curved({3})}, {{.bounds = {{400, 1200}}, .fade = {{0.3, 0}}}}, points,
                         Numbers(6, std::log(80.0)), identity(6));
    data =
        through(layered_forward({0.1, 1, 10, 100, 1000}, {200, 200, 200, 200, 200}), model.map());
  }
};
const Numbers somewhere{0.1, -0.2, 0.3, 0, 0.2, -0.1, 1.8, -0.7};

TEST(LearntModel, TaylorSlopesOfCodesAndPixels) {
  ForwardMap f = Layers().data;
  f.hessian = [c = f.curvature](const Numbers& x, const Numbers& y) { return dense(c(x, y)); };
  expect_taylor_slopes(f, somewhere, {1, 0.8, 1.1, 0.9, 1, 1.2, 0.5, 0.3});
}

TEST(LearntModel, JacobianAndProductsAreOneAndAdjoint) {
  const Layers layers;
  const LinearMap l = layers.model.map().linearize(somewhere);
  const Matrix by_columns = dense(l);
  Matrix unit(6, 6);
  for (std::size_t k = 0; k < 6; ++k) unit(k, k) = 1;
  const Matrix by_rows = from_left(unit, l);
  ASSERT_EQ(by_rows.cols, 8u);
  for (std::size_t k = 0; k < by_rows.values.size(); ++k)
    EXPECT_NEAR(by_rows.values[k], by_columns.values[k], 1e-15);
  const Numbers t{1, -1, 2, 0.5, 0, 1, -0.3, 2}, y{1, 0.5, -2, 1, 1, 3}, a = l.times(t),
                                                                         b = l.transposed_times(y);
  double left = 0, right = 0;
  for (std::size_t k = 0; k < 6; ++k) left += a[k] * y[k];
  for (std::size_t k = 0; k < 8; ++k) right += b[k] * t[k];
  EXPECT_NEAR(left, right, 1e-13);
}

TEST(LearntModel, AnArrayIsFoundAgainInCells) {
  // More cells than numbers: what the generator made comes back, to what smoothing costs.
  CellPoints points{.axes = 2};
  for (std::size_t k = 0; k < 400; ++k) {
    points.at.push_back(0.05 * (static_cast<double>(k / 20) + 0.5));
    points.at.push_back(0.05 * (static_cast<double>(k % 20) + 0.5));
    points.cell.push_back(k);
  }
  const LearntModel m =
      learnt_model({curved({5, 4})}, {{.bounds = {{0, 1}, {0, 1}}}}, points, Numbers(400, 1.0), {});
  const Numbers y = m.map().predict({0.4, 1.1});
  const Numbers found = m.array_of(0, y).to_vector();
  for (std::size_t j = 0; j < 20; ++j)
    EXPECT_NEAR(found[j], curved_at(0.4, 1.1, static_cast<double>(j), 20), 5e-3) << j;
  // Where cells say nothing, between those that do.
  const LearntModel two =
      learnt_model({curved({1, 9})}, {{.bounds = {{0, 1}, {0, 9}}}},
                   {.axes = 2, .at = {0.5, 0.5, 0.5, 8.5}, .cell = {0, 1}}, {0, 0}, {});
  const Numbers between = two.array_of(0, {1 * ln10, 5 * ln10}).to_vector();
  EXPECT_NEAR(between[4], 3, 1e-6);
}

TEST(LearntModel, GaussNewtonFindsTheCodesOfAnEarth) {
  const Layers layers;
  const ForwardMap f = through(layers.data, engine_map(2, [](const Tensor& z) {
                                 return concatenate({zeros({6}), z}, 0);
                               }));
  InverseProblem p;
  p.forward = f;
  p.data = f.predict({1.3, 0.6});
  for (const double d : p.data) p.sigma.push_back(1e-3 * std::abs(d));
  const GaussianPrior prior{{0, 0}, identity(2)};
  const auto fit = gauss_newton(p, prior, {0.5, 0});
  EXPECT_EQ(fit.reason, Reason::converged);
  EXPECT_NEAR(fit.m[0], 1.3, 2e-3);
  EXPECT_NEAR(fit.m[1], 0.6, 2e-2);
}

TEST(LearntModel, ThePriorIsThatOfPixelsBesideNormalCodes) {
  const LearntModel m = Layers().model;
  Matrix q(6, 6);
  for (std::size_t k = 0; k < 6; ++k) q(k, k) = 2, q(k, (k + 1) % 6) = q((k + 1) % 6, k) = -0.5;
  const GaussianPrior prior = m.prior({Numbers(6, 0.5), sparse(q)});
  EXPECT_EQ(prior.size(), 8u);
  EXPECT_EQ(prior.precision(6, 6), 1);
  EXPECT_EQ(prior.precision(7, 6), 0);
  EXPECT_EQ(prior.precision(0, 5), -0.5);
  const Numbers x = somewhere;
  double by_hand = x[6] * x[6] + x[7] * x[7];
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) by_hand += q(i, j) * (x[i] - 0.5) * (x[j] - 0.5);
  EXPECT_NEAR(prior.penalty(x), by_hand, 1e-14);
  EXPECT_THROW(m.prior({{0}, identity(1)}), Error);
  LearntModel other = m;
  other.generators[0].log_prior = [](const Tensor& z) { return -sum(abs(z)); };
  EXPECT_THROW(other.prior({Numbers(6, 0.0), identity(6)}), Error);
}

TEST(LearntModel, WhatDoesNotFitIsRefused) {
  const CellPoints points{.axes = 1, .at = {1}, .cell = {0}};
  const auto make = [&](const Region& r, const CellPoints& p, SparseMatrix pixels = {}) {
    return learnt_model({curved({4})}, {r}, p, {1}, std::move(pixels));
  };
  EXPECT_NO_THROW(make({{{0, 4}}}, points));
  EXPECT_THROW(make({{{4, 4}}}, points), Error);              // no extent
  EXPECT_THROW(make({{{2, 4}}}, points), Error);              // no point in it
  EXPECT_THROW(make({{{0, 4}}, {{0, 1.5}}}, points), Error);  // fades over more than all
  EXPECT_THROW(make({{{0, 4}}, {{0.1, 0}}, {{true, false}}}, points), Error);  // and goes on
  EXPECT_THROW(make({{{0, 4}, {0, 1}}}, points), Error);                       // two axes
  EXPECT_THROW(make({{{0, std::nan("")}}}, points), Error);                    //
  EXPECT_THROW(make({{{0, 4}}}, {1, {1}, {1}}), Error);                        // no such cell
  EXPECT_THROW(make({{{0, 4}}}, {1, {1, 2}, {0}}), Error);     // points of two numbers
  EXPECT_THROW(make({{{0, 4}}}, points, identity(2)), Error);  // pixels of other cells
  EXPECT_THROW(learnt_model({curved({4})}, {}, points, {1}, {}), Error);
}

}  // namespace
}  // namespace tessera::inversion
