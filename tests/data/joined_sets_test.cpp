// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/joined_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tessera::data {
namespace {

// Against colours that are painted over, whatever the order of pairs.
TEST(JoinedSets, AreThoseOfColoursPaintedOver) {
  std::mt19937 random(3);
  for (const std::int32_t n : {1, 2, 7, 60})
    for (int trial = 0; trial < 20; ++trial) {
      JoinedSets sets(static_cast<std::size_t>(n));
      std::vector<std::int32_t> colour(static_cast<std::size_t>(n));
      std::iota(colour.begin(), colour.end(), 0);
      for (int k = 0; k < n; ++k) {
        const auto a = static_cast<std::int32_t>(random() % static_cast<unsigned>(n)),
                   b = static_cast<std::int32_t>(random() % static_cast<unsigned>(n));
        const std::int32_t one = colour[std::size_t(a)], other = colour[std::size_t(b)];
        EXPECT_EQ(sets.join(a, b), one != other);
        std::replace(colour.begin(), colour.end(), std::max(one, other), std::min(one, other));
      }
      for (std::int32_t k = 0; k < n; ++k) EXPECT_EQ(sets.set_of(k), colour[std::size_t(k)]);
    }
}

// A chain joined from its end has the longest ways; each is walked in few steps.
TEST(JoinedSets, AMillionInAChainAreOne) {
  constexpr std::int32_t n = 1000000;
  JoinedSets sets(n);
  for (std::int32_t k = n - 1; k > 0; --k) EXPECT_TRUE(sets.join(k, k - 1));
  for (std::int32_t k = n - 1; k >= 0; --k) ASSERT_EQ(sets.set_of(k), 0);
}

}  // namespace
}  // namespace tessera::data
