// SPDX-License-Identifier: Apache-2.0
//
// Batches that threads read ahead: the same bits whatever their number, errors of readers, and an
// end at any moment.
#include "error_text.h"
#include "solvers/src/side_by_side.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace tessera;
using namespace tessera::solvers;
using tessera::testing::message_of;

namespace {

/// Samples that are made when they are read, by operations of the engine.
Samples<Tensor> made_when_read(Index count) {
  const Tensor all = normal(random_key(3), {count, 3});
  return {count, [all](std::span<const Index> which) {
            return sin(gather(all, tensor(std::vector<Index>(which.begin(), which.end()))));
          }};
}
Tensor noisy_distance(const Tensor& p, const Batch<Tensor>& b) {
  const Tensor noise = vmap([](const Tensor& key) { return normal(key, {3}); })(b.keys);
  return mean(square(b.data + 0.1 * noise - p));
}

}  // namespace

TEST(ReadAhead, TheBitsDoNotDependOnTheLoaders) {
  const Samples<Tensor> train = made_when_read(53), held_out = made_when_read(17);
  const int before = num_threads();
  std::vector<double> first;
  for (const int threads : {1, 2})
    for (const int loaders : {0, 1, 3, 100}) {
      set_num_threads(threads);
      const FitOptions o{
          .epochs = 3, .batch = 8, .parts = 3, .loaders = loaders, .rate = constant_rate(0.1)};
      FitState<Tensor> s = begin_fit(zeros({3}), o);
      fit(noisy_distance, s, train, held_out, o);
      std::vector<double> got = s.params.to_vector();
      for (const FitEpoch& e : s.curves) got.insert(got.end(), {e.loss, e.validation});
      if (first.empty()) first = got;
      EXPECT_EQ(got, first) << threads << " threads, " << loaders << " loaders";
    }
  set_num_threads(before);
}

TEST(ReadAhead, WhatAReaderThrowsReachesTheCaller) {
  const Samples<Tensor> all = made_when_read(40);
  const Samples<Tensor> broken{40, [&](std::span<const Index> which) {
                                 for (const Index k : which)
                                   if (k == 23) throw Error("sample 23 is torn");
                                 return all.read(which);
                               }};
  for (const int loaders : {0, 1, 3}) {
    const FitOptions o{.epochs = 2, .batch = 4, .shuffle = false, .loaders = loaders};
    FitState<Tensor> s = begin_fit(zeros({3}), o);
    EXPECT_EQ(message_of([&] { fit(noisy_distance, s, broken, Samples<Tensor>{}, o); }),
              "sample 23 is torn");
    EXPECT_EQ(s.step, 5) << loaders;  // the steps before it are done
  }
  // A batch that does not fit its samples is told from a loader as well.
  const Samples<Tensor> short_of_one{40, [&](std::span<const Index> which) {
                                       return all.read(which.size() > 1 ? which.subspan(1) : which);
                                     }};
  const FitOptions o{.batch = 4, .loaders = 2};
  FitState<Tensor> s = begin_fit(zeros({3}), o);
  EXPECT_NE(message_of([&] {
              fit(noisy_distance, s, short_of_one, Samples<Tensor>{}, o);
            }).find("4 samples were asked for"),
            std::string::npos);
}

TEST(ReadAhead, StoppedAnywhereTheThreadsEndAndItGoesOn) {
  const Samples<Tensor> all = made_when_read(22);
  std::atomic<int> reading{0};
  const Samples<Tensor> watched{22, [&](std::span<const Index> which) {
                                  ++reading;
                                  std::this_thread::sleep_for(std::chrono::microseconds(200));
                                  Tensor batch = all.read(which);
                                  --reading;
                                  return batch;
                                }};
  std::vector<double> whole;
  for (const int loaders : {0, 3}) {
    const FitOptions o{.epochs = 2, .batch = 4, .loaders = loaders};
    FitState<Tensor> s = begin_fit(zeros({3}), o);
    const GoOn<Tensor> never = [](const FitState<Tensor>&) { return false; };
    while (fit(noisy_distance, s, watched, Samples<Tensor>{}, o, never).reason ==
           FitEnd::Reason::stopped)
      EXPECT_EQ(reading.load(), 0);
    if (whole.empty()) whole = s.params.to_vector();
    EXPECT_EQ(s.params.to_vector(), whole);
  }
}

TEST(ReadAhead, ReadsAtMostTwiceAsManyAheadAndNoThreadsInTheirKernels) {
  const Index count = 40;
  const Samples<Tensor> all = made_when_read(count);
  std::atomic<Index> read{0};
  std::atomic<bool> alone{true};
  const std::thread::id here = std::this_thread::get_id();
  const Samples<Tensor> watched{count, [&](std::span<const Index> which) {
                                  ++read;
                                  if (std::this_thread::get_id() != here && num_threads() != 1)
                                    alone = false;
                                  return all.read(which);
                                }};
  const FitOptions o{.epochs = 1, .batch = 1, .loaders = 2};
  FitState<Tensor> s = begin_fit(zeros({3}), o);
  Index most = 0;
  fit(noisy_distance, s, watched, Samples<Tensor>{}, o,
      GoOn<Tensor>([&](const FitState<Tensor>& now) {
        if (now.step > 0) most = std::max(most, read.load() - 1 - now.step);  // 1: the batch's form
        return true;
      }));
  EXPECT_LE(most, 2 * 2);
  EXPECT_EQ(read.load(), count + 1);
  EXPECT_TRUE(alone.load());
}

TEST(SideBySide, WorkersShareOutTheThreadsOfTheirCaller) {
  const int before = num_threads();
  for (const auto& [threads, workers, each] :
       {std::array<int, 3>{4, 2, 2}, {4, 3, 1}, {2, 4, 1}, {3, 1, 3}, {1, 2, 1}}) {
    set_num_threads(threads);
    std::mutex mutex;
    std::set<int> seen;
    tessera::solvers::detail::SideBySide side_by_side(workers);
    side_by_side.run(16, [&](std::size_t) {
      const std::lock_guard lock(mutex);
      seen.insert(num_threads());
    });
    EXPECT_EQ(seen, std::set<int>{each}) << threads << " threads, " << workers << " workers";
    EXPECT_EQ(num_threads(), threads);
  }
  set_num_threads(before);
}

TEST(ReadAhead, RefusesNumbersOfLoadersThatCannotBe) {
  for (const int loaders : {-1, 1025}) {
    const FitOptions o{.loaders = loaders};
    FitState<Tensor> s = begin_fit(zeros({3}), o);
    EXPECT_NE(message_of([&] {
                fit(noisy_distance, s, made_when_read(4), Samples<Tensor>{}, o);
              }).find("loaders"),
              std::string::npos);
  }
}
