// SPDX-License-Identifier: Apache-2.0
// One minimum, whatever way its linear systems are solved: in model space, in data space, by
// conjugate gradients on products alone.
#include "smooth_case.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/random.h"
#include "tessera/inversion/posterior.h"
#include "three_layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

namespace tessera::inversion {
namespace {

constexpr NormalEquations kWays[] = {NormalEquations::model_space, NormalEquations::data_space,
                                     NormalEquations::conjugate_gradients};

/// The same map by the products of its derivatives.
ForwardMap products_of(const ForwardMap& f) {
  ForwardMap out = f;
  out.jacobian = nullptr;
  out.hessian = nullptr;
  out.linearize = [f](const std::vector<double>& m) {
    LinearMap j = linear_map(f.jacobian(m));
    j.matrix.reset();
    return j;
  };
  out.curvature = [f](const std::vector<double>& m, const std::vector<double>& y) {
    LinearMap h = linear_map(f.hessian(m, y));
    h.matrix.reset();
    return h;
  };
  return out;
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0;
  for (std::size_t k = 0; k < a.size(); ++k) out = std::max(out, std::abs(a[k] - b[k]));
  return out;
}

SmoothCase layered_case() {
  std::mt19937_64 random(2);
  SmoothCase c = smooth_case(oracle::synthetic(oracle::log_frequencies(1e-2, 100, 15),
                                               three_layers::rho, three_layers::h, 0.05, 1, random),
                             60);
  return c;
}

TEST(NormalEquations, GaussNewtonFindsOneMinimumByAllThree) {
  SmoothCase c = layered_case();
  for (const bool fixed : {false, true})
    for (const int order : {1, 2})
      for (const Loss loss : {Loss{}, Loss{Loss::Kind::huber, 0.7}}) {
        c.smooth.order = order;
        c.problem.loss = loss;
        c.problem.fixed.assign(fixed ? 60 : 0, false);
        auto start = c.smooth.mean;
        if (fixed)
          c.problem.fixed[20] = c.problem.fixed[59] = true, start[20] = 1, start[59] += 0.5;
        const GaussianPrior prior = c.smooth.at(0.5);
        std::vector<GaussNewtonResult> found;
        for (const NormalEquations way : kWays) {
          InverseProblem p = c.problem;
          if (way == NormalEquations::conjugate_gradients) p.forward = products_of(p.forward);
          found.push_back(gauss_newton(
              p, prior, start, {.max_iterations = 500, .tolerance = 1e-13, .equations = way}));
          EXPECT_EQ(found.back().reason, Reason::converged);
          if (fixed) {
            EXPECT_EQ(found.back().m[20], 1);
          }
        }
        // Of the second derivative alone a line is flat: along it the least objective that can be
        // told apart, 1e-16 of it, is a change of the root of that.
        const double near = order == 1 ? 1e-6 : 1e-5;
        EXPECT_LT(farthest(found[0].m, found[1].m), near) << fixed << order;
        EXPECT_LT(farthest(found[0].m, found[2].m), near) << fixed << order;
        EXPECT_NEAR(found[1].objective / found[0].objective, 1, 1e-9);
      }
}

/// A linear map of rows that overlap on a grid, with a prior that ties neighbours: the matrices are
/// no band, and have an order to be found.
struct GridCase {
  static constexpr std::size_t side = 24, n = side * side, n_data = 40;
  Matrix a{n_data, n};
  InverseProblem problem;
  GridCase() {
    const data::RandomKey key{5, 1};
    for (std::size_t i = 0; i < n_data; ++i)
      for (std::size_t k = 0; k < n; ++k) {
        const double y = static_cast<double>(k % side) - 3.0 * static_cast<double>(i % 8),
                     z = static_cast<double>(k / side) - 4.0 * static_cast<double>(i / 8);
        a(i, k) = std::exp(-(y * y + z * z) / 8);
      }
    problem.forward.n_parameters = n;
    problem.forward.n_data = n_data;
    const LinearMap map = linear_map(a);
    problem.forward.predict = map.times;
    problem.forward.jacobian = [a = a](const std::vector<double>&) { return a; };
    for (std::size_t i = 0; i < n_data; ++i) {
      problem.data.push_back(3 * normal(key, i));
      problem.sigma.push_back(0.3 + 0.01 * static_cast<double>(i));
    }
  }
  /// mu (differences of neighbours + 1/50): proportional to mu.
  static GaussianPrior prior(double mu) {
    std::vector<Entry> q;
    for (std::size_t k = 0; k < n; ++k) {
      q.push_back({k, k, 0.02 * mu});
      for (const std::size_t to : {k + 1, k + side}) {
        if (to >= n || (to == k + 1 && to % side == 0)) continue;
        q.push_back({k, k, mu});
        q.push_back({to, to, mu});
        q.push_back({k, to, -mu});
        q.push_back({to, k, -mu});
      }
    }
    return {std::vector<double>(n, 0.5), sparse(n, n, std::move(q))};
  }
};

TEST(NormalEquations, AMinimumOnAGridIsStationaryByNaiveLoops) {
  const GridCase c;
  const GaussianPrior prior = GridCase::prior(0.7);
  const std::vector<double> start(GridCase::n, 0.0);
  std::vector<std::vector<double>> found;
  for (const NormalEquations way : kWays) {
    const auto r = gauss_newton(c.problem, prior, start,
                                {.tolerance = 1e-12, .max_change = 1e9, .equations = way});
    ASSERT_EQ(r.reason, Reason::converged);
    EXPECT_LE(r.iterations.size(), 3u) << "it is a quadratic form";
    found.push_back(r.m);
    double worst = 0, size = 0;
    for (std::size_t k = 0; k < GridCase::n; ++k) {
      double data = 0, pull = 0;
      for (std::size_t i = 0; i < GridCase::n_data; ++i)
        data += c.a(i, k) * (c.problem.data[i] - r.predicted[i]) /
                (c.problem.sigma[i] * c.problem.sigma[i]);
      for (std::size_t j = 0; j < GridCase::n; ++j) pull += prior.precision(k, j) * (r.m[j] - 0.5);
      worst = std::max(worst, std::abs(data - pull));
      size = std::max(size, std::abs(data));
    }
    EXPECT_LT(worst, 1e-7 * size);
  }
  EXPECT_LT(farthest(found[0], found[1]), 1e-6);
  EXPECT_LT(farthest(found[0], found[2]), 1e-6);
  EXPECT_EQ(gauss_newton(c.problem, prior, start, {.max_change = 1e9}).m,
            gauss_newton(c.problem, prior, start,
                         {.max_change = 1e9, .equations = NormalEquations::data_space})
                .m)
      << "576 parameters and 40 data: data space by itself";
}

TEST(NormalEquations, OccamEndsAtOneModelByAllThree) {
  const GridCase c;
  const std::vector<double> start(GridCase::n, 0.5);
  const auto roughness = [](const std::vector<double>& m) { return GridCase::prior(1).penalty(m); };
  std::vector<OccamResult> found;
  for (const NormalEquations way : kWays)
    for (const bool proportional : {false, true}) {
      OccamOptions options{.target_rms = 1.5};
      options.newton.equations = way;
      options.newton.max_change = 1e9;
      options.newton.tolerance = 1e-12;
      found.push_back(occam(c.problem, {GridCase::prior, roughness, proportional}, start, options));
      const OccamResult& r = found.back();
      EXPECT_EQ(r.reason, Reason::target_reached);
      EXPECT_LE(r.rms, 1.5);
      EXPECT_GE(r.rms, 0.99 * 1.5);
      EXPECT_NEAR(std::log(r.mu / found[0].mu), 0, 1e-5);
      EXPECT_LT(farthest(r.m, found[0].m), 1e-5);
    }
}

TEST(NormalEquations, LaplaceInDataSpaceIsThatOfModelSpace) {
  const GridCase c;
  for (const bool fixed : {false, true}) {
    InverseProblem p = c.problem;
    p.fixed.assign(fixed ? GridCase::n : 0, false);
    if (fixed) p.fixed[0] = p.fixed[77] = p.fixed[300] = true;
    const GaussianPrior prior = GridCase::prior(0.7);
    const auto m = gauss_newton(p, prior, std::vector<double>(GridCase::n, 0.5)).m;
    const Posterior a = laplace(p, prior, m, Hessian::gauss_newton),
                    b = laplace(p, prior, m, Hessian::gauss_newton, NormalEquations::data_space);
    EXPECT_NEAR(a.log_determinant, b.log_determinant, 1e-9 * std::abs(a.log_determinant));
    EXPECT_LT(farthest(a.standard_deviation, b.standard_deviation), 1e-9);
    EXPECT_EQ(b.precision.rows, 0u);
    if (fixed) {
      EXPECT_EQ(b.standard_deviation[77], 0);
    }
    EXPECT_THROW(laplace(p, prior, m, Hessian::exact, NormalEquations::data_space), Error);
  }
}

// The exact Hessian by products of the curvature is that of its numbers.
TEST(NormalEquations, LaplaceByProductsIsThatOfNumbers) {
  const SmoothCase c = layered_case();
  const GaussianPrior prior = c.smooth.at(3.0);
  const auto fit = gauss_newton(c.problem, prior, c.smooth.mean);
  InverseProblem products = c.problem;
  products.forward = products_of(c.problem.forward);
  const Posterior a = laplace(c.problem, prior, fit.m), b = laplace(products, prior, fit.m);
  EXPECT_EQ(a.exact_hessian, b.exact_hessian);
  EXPECT_LT(farthest(a.standard_deviation, b.standard_deviation), 1e-9);
  EXPECT_NEAR(a.log_determinant, b.log_determinant, 1e-8);
  InverseProblem none = c.problem;
  none.forward.hessian = nullptr;
  EXPECT_THROW(laplace(none, prior, fit.m), Error);
  EXPECT_NO_THROW(laplace(none, prior, fit.m, Hessian::gauss_newton));
  none.forward.jacobian = nullptr;
  EXPECT_THROW(gauss_newton(none, prior, c.smooth.mean), Error);
}

// Draws of a prior whose factor has an order of its own: d = L^-T xi has d . Q d = xi . xi, and Q d
// is correlated with d at its own place alone.
TEST(GaussianPrior, DrawsOnAGridHaveItsCovariance) {
  const GaussianPrior prior = GridCase::prior(1.3);
  double own = 0, next = 0, above = 0;
  constexpr int draws = 200;
  constexpr double count = draws * static_cast<double>(GridCase::n - GridCase::side);
  for (int k = 0; k < draws; ++k) {
    std::vector<double> xi(GridCase::n);
    double square = 0;
    for (std::size_t j = 0; j < xi.size(); ++j) {
      xi[j] = data::normal({9, static_cast<std::uint64_t>(k)}, j);
      square += xi[j] * xi[j];
    }
    auto d = draw(prior, xi);
    EXPECT_NEAR(prior.penalty(d) / square, 1, 1e-10);
    for (double& v : d) v -= 0.5;
    const auto qd = prior.precision.times(d);
    for (std::size_t j = 0; j + GridCase::side < GridCase::n; ++j) {
      own += qd[j] * d[j] / count;
      next += qd[j] * d[j + 1] / count;
      above += qd[j] * d[j + GridCase::side] / count;
    }
  }
  // 110,000 products of a spread of about two: five standard errors are 0.03.
  EXPECT_NEAR(own, 1, 0.03);
  EXPECT_NEAR(next, 0, 0.03);
  EXPECT_NEAR(above, 0, 0.03);
}

TEST(Occam, MakesFewJacobians) {
  SmoothCase c = layered_case();
  int jacobians = 0;
  const auto counted = c.problem.forward.jacobian;
  c.problem.forward.jacobian = [&](const std::vector<double>& m) {
    ++jacobians;
    return counted(m);
  };
  const OccamResult r = occam(c.problem, c.smoothing(), c.smooth.mean, {.target_rms = 1.1});
  ASSERT_EQ(r.reason, Reason::target_reached);
  // Two steps at each of up to nineteen weights before; here about as many as Newton's method
  // takes.
  EXPECT_LE(jacobians, 20);
  std::cout << jacobians << " Jacobians\n";
}

}  // namespace
}  // namespace tessera::inversion
