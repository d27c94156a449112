// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace tessera {
namespace {

// The first calls of one compiled function from several threads at once: whoever finds the plan
// also finds the shape of the result tree.
TEST(JitThreads, FirstCallsMayOverlap) {
  for (int round = 0; round < 100; ++round) {
    const auto f = jit([](const std::vector<Tensor>& x) {
      return std::pair(x[0] + x[1], std::vector<Tensor>{x[0] * x[1]});
    });
    std::latch begin(4);
    std::atomic<int> right{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
          begin.arrive_and_wait();
          const auto [s, p] = f(std::vector<Tensor>{Tensor(3.0), Tensor(4.0)});
          right += s.item() == 7.0 && p.at(0).item() == 12.0;
        });
    }
    ASSERT_EQ(right, 4) << round;
  }
}

}  // namespace
}  // namespace tessera
