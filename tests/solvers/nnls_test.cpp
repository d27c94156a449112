// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/nnls.h"

#include "tessera/autodiff/error.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace tessera::solvers {
namespace {

/// Column by column, as nnls takes it.
struct Matrix {
  std::size_t rows, cols;
  std::vector<double> values = std::vector<double>(rows * cols);
  double& operator()(std::size_t i, std::size_t j) { return values[i + j * rows]; }
};

/// The best feasible least-squares solution over all subsets of columns: exact for few columns.
double best_of_all_subsets(const Matrix& a, const std::vector<double>& b) {
  const Eigen::Map<const Eigen::MatrixXd> m(a.values.data(), a.rows, a.cols);
  const Eigen::Map<const Eigen::VectorXd> rhs(b.data(), b.size());
  double best = rhs.squaredNorm();
  for (unsigned set = 1; set < (1u << a.cols); ++set) {
    Eigen::MatrixXd sub(a.rows, std::popcount(set));
    for (std::size_t j = 0, k = 0; j < a.cols; ++j)
      if (set >> j & 1u) sub.col(k++) = m.col(j);
    const Eigen::VectorXd x = sub.fullPivHouseholderQr().solve(rhs);
    if ((x.array() >= 0).all()) best = std::min(best, (rhs - sub * x).squaredNorm());
  }
  return best;
}

TEST(Nnls, EqualsTheBestOfAllSubsets) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    Matrix a{6u + trial % 5, 1u + trial % 8};
    for (double& v : a.values) v = normal(random) + 0.5;
    std::vector<double> b(a.rows);
    for (double& v : b) v = normal(random);
    const NnlsResult r = nnls(a.values, b, 1e-12);
    ASSERT_TRUE(r.converged);
    double chi2 = 0;
    for (double v : r.residual) chi2 += v * v;
    for (double v : r.x) EXPECT_GE(v, 0.0);
    EXPECT_NEAR(chi2, best_of_all_subsets(a, b), 1e-11);
  }
}

TEST(Nnls, NearlyEqualColumnsAndAWarmStartChangeNothing) {
  // Columns that differ by 1e-9: the optimum is unique in the residual, not in x.
  Matrix a{12, 20};
  for (std::size_t j = 0; j < a.cols; ++j)
    for (std::size_t i = 0; i < a.rows; ++i)
      a(i, j) = 1 / (1.0 + static_cast<double>(i) + 1e-9 * static_cast<double>(j));
  std::vector<double> b(a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) b[i] = a(i, 10) * 3 + 0.01 * (i % 2 ? 1 : -1);
  const NnlsResult cold = nnls(a.values, b, 1e-12);
  const std::vector<std::size_t> start{3, 7, 11};
  const NnlsResult warm = nnls(a.values, b, 1e-12, start);
  ASSERT_TRUE(cold.converged);
  ASSERT_TRUE(warm.converged);
  for (std::size_t i = 0; i < a.rows; ++i) EXPECT_NEAR(cold.residual[i], warm.residual[i], 1e-8);
}

TEST(Nnls, NothingHelpsWhenAllColumnsPointAway) {
  Matrix a{2, 2};
  a(0, 0) = a(1, 1) = 1;
  const std::vector<double> b{-1, -2};
  const NnlsResult r = nnls(a.values, b, 1e-14);
  EXPECT_TRUE(r.converged);
  EXPECT_TRUE(r.active.empty());
  EXPECT_EQ(r.residual, b);
}

TEST(Nnls, EndsWhereThereIsNoSolution) {
  // The second and third columns are one: with both in the set there is no least-squares solution.
  const std::vector<double> a{1, 0, 0, 0, 1, 0, 0, 1, 0}, b{1, 1, 1};
  for (const std::vector<std::size_t>& start :
       {std::vector<std::size_t>{}, {1, 2}, {0, 1, 2}, {2, 1}}) {
    const NnlsResult r = nnls(a, b, 1e-14, start);
    EXPECT_TRUE(r.converged);
    EXPECT_NEAR(r.x[0], 1, 1e-14);
    EXPECT_NEAR(r.x[1] + r.x[2], 1, 1e-14);
  }
  // A column of zeros, or one that is named twice, in the start: nothing helps along it.
  for (const std::vector<std::size_t>& start : {std::vector<std::size_t>{1}, {0, 1}, {0, 0}}) {
    const NnlsResult zero =
        nnls(std::vector<double>{1, 0, 0, 0}, std::vector<double>{2, 1}, 1e-14, start);
    EXPECT_TRUE(zero.converged);
    EXPECT_EQ(zero.x, (std::vector<double>{2, 0}));
    EXPECT_EQ(zero.residual, (std::vector<double>{0, 1}));
  }
  // Columns whose squares overflow have none in double precision either.
  const NnlsResult r = nnls(std::vector<double>{1e300, 1e300}, std::vector<double>{1, 1}, 1e-14);
  EXPECT_EQ(r.x[0], 0);
}

TEST(Nnls, RefusesWhatIsNotAnEquation) {
  const std::vector<double> b{1, 2}, bad{1, NAN};
  EXPECT_THROW(nnls(std::vector<double>{1, 2, 3}, b, 1e-14), Error);
  EXPECT_THROW(nnls(std::vector<double>{1, INFINITY}, b, 1e-14), Error);
  EXPECT_THROW(nnls(std::vector<double>{1, 2}, bad, 1e-14), Error);
  EXPECT_THROW(nnls(std::vector<double>{1, 2}, b, 1e-14, std::vector<std::size_t>{1}), Error);
}

}  // namespace
}  // namespace tessera::solvers
