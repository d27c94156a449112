// SPDX-License-Identifier: Apache-2.0
//
// What held-out sections show of a learnt prior, as a prior of pixels.
#include "tessera/inversion/prior_calibration.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/low_rank_posterior.h"
#include "tessera/inversion/mesh_2d.h"
#include "tessera/inversion/section_smoothing.h"
#include "tessera/inversion/through.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;

TEST(PriorCalibration, ErrorsAreAsLongAsTheirMeansSay) {
  for (const double length : {0.3, 0.75, 2.0}) {
    double sum = 0;
    for (int a = 0; a < 16; ++a)
      for (int b = 0; b < 16; ++b) {
        const double d = std::hypot(a / 4 - b / 4, a % 4 - b % 4) / length;
        sum += (a == b ? 1 : d * std::cyl_bessel_k(1.0, d)) / 256;
      }
    EXPECT_NEAR(error_length_of(sum), length, 1e-6);
  }
  EXPECT_NEAR(error_length_of(1.0 / 16), 0.1, 1e-6);  // at most as fine as cells
}

// What a calibration has measured is what pixels have, on cells of the array's size and on finer
// ones: the deviation of means over 4 x 4 cells of the array where that of each cell is 1.
TEST(PriorCalibration, MeansOfPixelsScatterAsMeasured) {
  for (const double measured : {0.43, 0.65}) {
    const double length = error_length_of(measured * measured);
    for (const Index fine : {1, 2}) {
      const Index n = 12 * fine, width = 4 * fine;
      Numbers lines;
      for (Index k = 0; k <= n; ++k)
        lines.push_back(static_cast<double>(k) / static_cast<double>(fine));
      const Mesh2d m = tensor_mesh(lines, lines, {}, [&](double y, double z) {
        const auto at = [&](double x) {
          return static_cast<Index>(std::floor(x * static_cast<double>(fine)));
        };
        return Medium2d{.parameter = at(y) * n + at(z)};
      });
      const GaussianPrior p = with_standard_deviations(
          section_correlation(m, length, length), Numbers(static_cast<std::size_t>(n * n), 1.0));
      Eigen::MatrixXd q = Eigen::MatrixXd::Zero(n * n, n * n);
      for (std::size_t i = 0; i < p.size(); ++i)
        for (auto k = static_cast<std::size_t>(p.precision.offsets[i]);
             k < static_cast<std::size_t>(p.precision.offsets[i + 1]); ++k)
          q(static_cast<Eigen::Index>(i), p.precision.columns[k]) = p.precision.values[k];
      Eigen::VectorXd mean = Eigen::VectorXd::Zero(n * n);
      for (Index i = width; i < 2 * width; ++i)
        for (Index j = width; j < 2 * width; ++j)
          mean[i * n + j] = 1 / static_cast<double>(width * width);
      // The lattice's cells are not points: 0.39 to 0.415 and 0.62 by its sums.
      EXPECT_NEAR(std::sqrt(mean.dot(q.llt().solve(mean))), measured, 0.12 * measured) << fine;
    }
  }
}

TEST(PriorCalibration, CorrelationsStayWhenStandardDeviationsChange) {
  Matrix q(3, 3);
  q.values = {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2};
  const Numbers wanted{0.1, 2, 0.7};
  const GaussianPrior before{{1, 2, 3}, sparse(q)},
      after = with_standard_deviations(before, wanted);
  EXPECT_EQ(after.mean, before.mean);
  // Covariances by the dense posterior of a datum that says nothing.
  const auto covariance = [](const GaussianPrior& p) {
    InverseProblem none;
    none.forward = engine_map(3, [](const Tensor& x) { return slice(x, 0, 0, 1); });
    none.data = {0}, none.sigma = {1e12};
    const auto post = low_rank_laplace(none, p, p.mean);
    Matrix c(3, 3);
    for (std::size_t k = 0; k < 3; ++k) {
      Numbers unit(3, 0.0);
      unit[k] = 1;
      const Numbers column = post.covariance_times(unit);
      for (std::size_t i = 0; i < 3; ++i) c(i, k) = column[i];
    }
    return c;
  };
  const Matrix a = covariance(before), b = covariance(after);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(std::sqrt(b(i, i)), wanted[i], 1e-12);
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(b(i, j) / std::sqrt(b(i, i) * b(j, j)), a(i, j) / std::sqrt(a(i, i) * a(j, j)),
                  1e-12);
  }
  EXPECT_THROW(with_standard_deviations(before, {1, 2}), Error);
  EXPECT_THROW(with_standard_deviations(before, {1, 0, 2}), Error);
}

}  // namespace
}  // namespace tessera::inversion
