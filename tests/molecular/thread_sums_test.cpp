// SPDX-License-Identifier: Apache-2.0
#include "molecular/src/base/thread_sums.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace tessera::molecular {
namespace {

template <class T>
std::vector<T> take(ThreadSums<T>& sums, std::size_t begin, std::size_t end) {
  std::vector<T> sum(end - begin, 77);
  sums.take(begin, end, sum.data());
  return sum;
}

/// Rounds of adding and taking, of changing sizes and threads, against plain sums.
TEST(ThreadSums, AreThePlainSumsRoundAfterRound) {
  std::mt19937 random(5);
  ThreadSums<std::int64_t> sums;
  for (int round = 0; round < 40; ++round) {
    const std::size_t n = round < 20 ? 301 : 100 + random() % 400,
                      threads = round < 10 ? 2 : 1 + random() % 4;
    std::vector<std::int64_t> right(n, 0);
    sums.begin(threads, n);
    for (std::size_t t = 0; t < threads; ++t) {
      std::int64_t* const own = sums.open(t);
      for (int k = 0; k < 30; ++k) {
        const std::size_t at = random() % n;
        const auto v = static_cast<std::int64_t>(random()) - (std::int64_t{1} << 31);
        own[at] += v;
        right[at] += v;
      }
    }
    if (round % 7 == 3) continue;  // given up: nothing of it may come back
    std::vector<std::int64_t> sum;
    for (std::size_t begin = 0; begin < n; begin += 110) {
      const std::vector<std::int64_t> part = take(sums, begin, std::min(begin + 110, n));
      sum.insert(sum.end(), part.begin(), part.end());
    }
    sums.all_taken();
    ASSERT_EQ(sum, right) << round;
  }
}

TEST(ThreadSums, WrapOnTheWayWithoutHarm) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  ThreadSums<std::int32_t> sums;
  sums.begin(3, 2);
  sums.open(0)[1] = most;
  sums.open(1)[1] = most;
  sums.open(2)[1] = -most;
  EXPECT_EQ(take(sums, 0, 2), (std::vector<std::int32_t>{0, most}));
}

TEST(ThreadSums, WithoutThreadsAreZero) {
  ThreadSums<std::int64_t> sums;
  sums.begin(0, 5);
  EXPECT_TRUE(sums.empty());
  EXPECT_EQ(take(sums, 1, 4), (std::vector<std::int64_t>(3, 0)));
}

}  // namespace
}  // namespace tessera::molecular
