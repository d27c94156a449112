// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/misfit.h"

#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/gauss_newton.h"
#include "three_layers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

TEST(Misfit, HuberIsSmoothlyJoinedAndItsDerivativesFollow) {
  const Loss huber{Loss::Kind::huber, 1.5};
  EXPECT_DOUBLE_EQ(huber.value(1.0), 1.0);
  EXPECT_DOUBLE_EQ(huber.value(-4.0), 1.5 * (8 - 1.5));
  for (double r : {-6.0, -1.6, -1.4, -0.2, 0.7, 1.49, 1.51, 9.0}) {
    const double h = 1e-5;
    const double derivative = (huber.value(r + h) - huber.value(r - h)) / (2 * h);
    EXPECT_NEAR(huber.weight(r), derivative / (2 * r), 1e-8) << r;
    const double second = (huber.value(r + h) - 2 * huber.value(r) + huber.value(r - h)) / (h * h);
    EXPECT_NEAR(huber.newton_weight(r), second / 2, 1e-4) << r;
  }
}

TEST(Misfit, RmsOfKnownResiduals) {
  const auto r = normalised_residual({1, 2, 3}, {0, 2, 7}, {1, 1, 2});
  EXPECT_EQ(r, (std::vector<double>{1, 0, -2}));
  EXPECT_DOUBLE_EQ(rms({}, r), std::sqrt(5.0 / 3));
}

// Whatever the loss is that a search goes by, steps know the root of the mean square, too.
TEST(Misfit, StepsKnowThePlainRms) {
  const Response r = three_layers::noisy(12);
  InverseProblem p;
  p.forward = layered_forward(r.frequency_hz, {300, 1000}, {});
  p.data = to_real(r.impedance_ohm);
  p.data[3] *= 2;  // an outlier
  p.sigma = sigma_of_data(r);
  p.loss = {Loss::Kind::huber, 1.0};
  Matrix unit(3, 3);
  for (std::size_t k = 0; k < 3; ++k) unit(k, k) = 1;
  const SparseMatrix one = sparse(unit);
  const GaussNewtonResult fit =
      gauss_newton(p, GaussianPrior{.mean = {4, 4, 4}, .precision = one}, {4, 4, 4});
  const double plain = rms({}, normalised_residual(p.data, fit.predicted, p.sigma));
  EXPECT_DOUBLE_EQ(fit.iterations.back().plain_rms, plain);
  EXPECT_GT(plain, 1.2 * fit.iterations.back().rms);
}

}  // namespace
}  // namespace tessera::inversion
