// SPDX-License-Identifier: Apache-2.0
//
// The books on memory: what is in use, its peak, the limit.
#include "tessera/autodiff/memory.h"

#include "error_text.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <string>

using namespace tessera;

namespace {

using tessera::testing::message_of;

constexpr std::size_t kMiB = 1u << 20;

/// Sets a limit above what is in use now, and removes it however the test ends.
class WithLimit {
 public:
  explicit WithLimit(std::size_t room) : bytes(memory_stats().in_use + room) {
    set_memory_limit(bytes);
  }
  ~WithLimit() { set_memory_limit(0); }
  WithLimit(const WithLimit&) = delete;
  const std::size_t bytes;
};

}  // namespace

TEST(Memory, CountsWhatLivesAndItsPeak) {
  const std::size_t before = memory_stats().in_use;
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak, before);
  {
    const Tensor a = zeros({kMiB}), b = a + 1.0;  // 8 MiB each
    const std::size_t now = memory_stats().in_use - before;
    EXPECT_GE(now, 16 * kMiB);
    EXPECT_LE(now, 18 * kMiB);  // sizes are rounded to an eighth of a power of two
    const Tensor view = reshape(slice(a, 0, 0, 1024), {32, 32});
    EXPECT_EQ(memory_stats().in_use - before, now);  // a view holds nothing of its own
  }
  EXPECT_EQ(memory_stats().in_use, before);
  EXPECT_GE(memory_stats().peak, before + 16 * kMiB);
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak, before);
}

TEST(Memory, LargeBlocksAreUsedAgain) {
  release_cached_memory();
  EXPECT_EQ(memory_stats().cached, 0u);
  const std::size_t allocations = memory_stats().allocations;
  for (int k = 0; k < 5; ++k) const Tensor a = zeros({3 * Index(kMiB)});
  EXPECT_EQ(memory_stats().allocations, allocations + 1);
  EXPECT_GE(memory_stats().cached, 24 * kMiB);
  release_cached_memory();
  EXPECT_EQ(memory_stats().cached, 0u);
}

TEST(Memory, WhatIsKeptFollowsWhatWasInUse) {
  release_cached_memory();
  const Index mib = Index(kMiB) / 8;
  const auto held = [] { return memory_stats().in_use + memory_stats().cached; };
  { const Tensor a = zeros({280 * mib}), b = zeros({280 * mib}); }
  EXPECT_GE(memory_stats().cached, 560 * kMiB) << "both are used again,";
  const std::size_t allocations = memory_stats().allocations;
  { const Tensor a = zeros({280 * mib}), b = zeros({280 * mib}); }
  EXPECT_EQ(memory_stats().allocations, allocations) << "though they are more than 512 MiB;";
  const std::size_t most = held() + held() / 4;
  for (Index size : {70, 110, 140, 240}) {
    const Tensor a = zeros({size * mib});
    EXPECT_LE(held(), most) << "blocks of other sizes take their place";
  }
  EXPECT_GE(memory_stats().cached, 240 * kMiB) << "the oldest go first";
  release_cached_memory();
  const std::size_t before = held();
  for (Index size : {70, 110, 140, 240}) const Tensor a = zeros({size * mib});
  EXPECT_LE(held(), before + 512 * kMiB);
  release_cached_memory();
}

TEST(Memory, TheLimitNamesItsFigures) {
  const std::size_t before = memory_stats().in_use;
  {
    const WithLimit limit(6 * kMiB);
    EXPECT_EQ(memory_limit(), limit.bytes);
    const Tensor fits = zeros({kMiB / 4});  // 2 MiB
    const std::string message = message_of([] { zeros({Index(kMiB)}); });
    EXPECT_NE(message.find("limit of " + std::to_string(limit.bytes) + " bytes"), std::string::npos)
        << message;
    EXPECT_NE(message.find(std::to_string(memory_stats().in_use) + " in use"), std::string::npos)
        << message;
    EXPECT_NE(message.find("set_memory_limit"), std::string::npos) << message;
    EXPECT_EQ(sum(fits + 1.0).item(), static_cast<double>(kMiB / 4));  // what fits goes on
  }
  EXPECT_EQ(memory_limit(), 0u);
  EXPECT_EQ(memory_stats().in_use, before);
  EXPECT_EQ(zeros({Index(kMiB)}).size(), Index(kMiB));
}

TEST(Memory, ATransformOrAPlanThatHitsTheLimitLeavesNothingBehind) {
  const Tensor x = ones({Index(kMiB) / 2});  // 4 MiB
  const auto g = grad([](Tensor u) { return sum(exp(sin(u)) * cos(exp(u))); });
  const auto planned = jit(g);
  const std::vector<double> expect = planned(x).to_vector();
  const std::size_t before = memory_stats().in_use;
  {
    const WithLimit limit(6 * kMiB);
    EXPECT_THROW(g(x), Error);
    EXPECT_EQ(memory_stats().in_use, before);
  }
  {
    const WithLimit limit(3 * kMiB);  // less than the gradient itself
    const auto fresh = jit(g);
    EXPECT_THROW(fresh(x), Error);
    EXPECT_EQ(memory_stats().in_use, before);
  }
  EXPECT_EQ(planned(x).to_vector(), expect);
  EXPECT_EQ(g(x).to_vector(), expect);
}

TEST(Memory, APlanHoldsItsBlockAsLongAsItLives) {
  const Tensor x = ones({Index(kMiB) / 8});  // 1 MiB
  const std::size_t before = memory_stats().in_use;
  {
    const auto f = [](Tensor u) {
      for (int k = 0; k < 10; ++k) u = reverse(sin(u) + 0.5, {0});
      return sum(u);
    };
    const auto planned = jit(f);
    reset_peak_memory();
    EXPECT_EQ(planned(x).item(), f(x).item());
    const std::size_t held = memory_stats().in_use - before;
    EXPECT_GE(held, kMiB);      // one block is written over and over,
    EXPECT_LE(held, 3 * kMiB);  // not one for each of 20 results
  }
  EXPECT_EQ(memory_stats().in_use, before);
}

TEST(Memory, BlocksCountAndAreUsedAgain) {
  const std::size_t before = memory_stats().in_use;
  void* first = nullptr;
  {
    MemoryBlock a(3 * kMiB + 1);
    EXPECT_EQ(a.bytes(), 3 * kMiB + 1);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
    EXPECT_GE(memory_stats().in_use, before + 3 * kMiB);
    MemoryBlock b = std::move(a);
    EXPECT_EQ(a.data(), nullptr);
    first = b.data();
  }
  EXPECT_EQ(memory_stats().in_use, before);
  EXPECT_EQ(MemoryBlock(3 * kMiB + 1).data(), first);
  EXPECT_EQ(MemoryBlock().data(), nullptr);
}

TEST(Memory, ForeignMemoryIsNotCounted) {
  std::vector<double> mine(kMiB, 2.0);
  const std::size_t before = memory_stats().in_use;
  bool released = false;
  {
    const Tensor t = from_pointer(mine.data(), {Index(kMiB)}, [&] { released = true; });
    EXPECT_EQ(memory_stats().in_use, before);
    EXPECT_EQ(sum(t).item(), 2.0 * kMiB);
    EXPECT_FALSE(released);
  }
  EXPECT_TRUE(released);
}
