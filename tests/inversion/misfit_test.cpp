// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/misfit.h"

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

}  // namespace
}  // namespace tessera::inversion
