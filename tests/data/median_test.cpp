// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/median.h"

#include <gtest/gtest.h>

#include <cmath>

using tessera::data::median;

TEST(Median, IsTheMiddleValueAndTheUpperOfTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 3);  // 2 and 3 are in the middle
  EXPECT_EQ(median({-1, -1, -1, 7}), -1);
}

TEST(Median, IsThatOfTheFiniteValues) {
  EXPECT_EQ(median({NAN, 1, INFINITY, 2, -INFINITY, 3}), 2);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median({NAN, INFINITY})));
}
