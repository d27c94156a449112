// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace tessera {
namespace {

TEST(Shares, EveryChunkIsSomebodysOnceWhoeverComes) {
  for (const std::int64_t n : {0, 1, 2, 3, 7, 64, 1001})
    for (const int threads : {1, 2, 3, 8})
      for (const int who_come : {1, 2, 3, 8}) {
        Shares shares(n, threads);
        std::vector<std::atomic<int>> taken(static_cast<std::size_t>(n));
        {
          std::vector<std::jthread> pool;
          for (int t = 0; t < std::min(threads, who_come); ++t)
            pool.emplace_back([&, t] {
              shares.take(t,
                          [&](std::int64_t c) { return ++taken[static_cast<std::size_t>(c)] > 0; });
            });
        }
        for (std::int64_t c = 0; c < n; ++c)
          ASSERT_EQ(taken[static_cast<std::size_t>(c)], 1)
              << c << " of " << n << ", " << threads << " threads, " << who_come << " came";
      }
}

TEST(Shares, AThreadTakesItsNeighboursInOrderThenHelpsOthersFromTheirEnds) {
  Shares shares(10, 3);  // [0, 3), [3, 6), [6, 10)
  std::vector<std::int64_t> order;
  shares.take(1, [&](std::int64_t c) {
    order.push_back(c);
    return true;
  });
  EXPECT_EQ(order, (std::vector<std::int64_t>{3, 4, 5, 9, 8, 7, 6, 2, 1, 0}));
}

TEST(Shares, AFalseEndsAThreadsWorkAndLeavesTheRest) {
  Shares shares(10, 2);
  std::int64_t last = -1;
  shares.take(0, [&](std::int64_t c) { return (last = c) < 2; });
  EXPECT_EQ(last, 2);
  std::vector<std::int64_t> rest;
  shares.take(1, [&](std::int64_t c) {
    rest.push_back(c);
    return true;
  });
  EXPECT_EQ(rest, (std::vector<std::int64_t>{5, 6, 7, 8, 9, 4, 3}));
}

}  // namespace
}  // namespace tessera
