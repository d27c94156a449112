// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/communicator.h"

#include "checks.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "wrongs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <complex>
#include <mutex>
#include <optional>
#include <thread>

namespace tessera::parallel {
namespace {

/// What run_ranks throws; empty: nothing.
std::string error_of(int ranks, const std::function<void(Communicator&)>& f,
                     const RankOptions& options = {}) {
  try {
    run_ranks(ranks, f, options);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}
void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& w : words)
    EXPECT_NE(text.find(w), std::string::npos) << "'" << w << "' in: " << text;
}
std::string here(unsigned line) { return "communicator_test.cpp:" + std::to_string(line); }

TEST(Communicator, OneRankAlone) {
  Communicator c = alone();
  EXPECT_EQ(c.rank(), 0);
  EXPECT_EQ(c.size(), 1);
  checks::all(c);
  c.finish();
  EXPECT_EQ(c.sent_messages(), 0u);
}

TEST(Communicator, ThreadsAreRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks) run_ranks(ranks, checks::all);
}

TEST(Communicator, MessagesMayComeInAnyOrder) {
  for (const std::uint64_t delays : {1, 2, 3})
    for (const int ranks : {2, 3, 5})
      run_ranks(ranks,
                [](Communicator& c) {
                  checks::neighbours_exchange(c);
                  for (int k = 0; k < 20; ++k) {
                    c.barrier();
                    const auto all = c.all_gather(to_bytes(std::vector<int>{c.rank(), k}));
                    for (int r = 0; r < c.size(); ++r)
                      checks::require(from_bytes<int>(all[static_cast<std::size_t>(r)]) ==
                                          std::vector<int>{r, k},
                                      "all-gather");
                  }
                },
                {.delays = delays});
}

TEST(Communicator, RanksShareTheThreads) {
  const int before = num_threads();
  set_num_threads(6);
  std::atomic<int> of_each{0};
  run_ranks(3, [&](Communicator& c) {
    if (c.rank() == 1) of_each = num_threads();
  });
  EXPECT_EQ(of_each, 2);
  set_num_threads(before);
}

TEST(Communicator, DifferentExchangesAreToldWithBothLines) {
  const unsigned line = __LINE__ + 5;
  const std::string text = error_of(2, [](Communicator& c) {
    const Bytes some(8);
    c.barrier();
    if (c.rank() == 0)
      c.all_gather(some);
    else
      c.all_to_all({some, some});
  });
  expect_words(text, {"different exchanges", "all-gather, " + here(line),
                      "all-to-all, " + here(line + 2), "exchange 2"});
}

TEST(Communicator, ACallThatOneRankMissesIsToldWithBothLines) {
  const unsigned line = __LINE__ + 2;
  const std::string text = error_of(3, [](Communicator& c) {
    if (c.rank() != 2) c.barrier();
  });
  expect_words(text, {"barrier, " + here(line), "end of the run"});
}

TEST(Communicator, ReorderedCallsAreToldByTheirNumbers) {
  const std::string text = error_of(2, [](Communicator& c) {
    if (c.rank() == 0) c.broadcast(Bytes(3), 0);
    c.barrier();
    if (c.rank() == 1) c.broadcast(Bytes(3), 0);
  });
  expect_words(text, {"different exchanges", "broadcast from rank 0", "barrier", "exchange 1"});
}

TEST(Communicator, OtherSizesThanExpectedAreTold) {
  const std::string text = error_of(2, [](Communicator& c) {
    Bytes mine(16), came(c.rank() == 0 ? 16 : 24);
    const Send send{1 - c.rank(), mine};
    const Receive receive{1 - c.rank(), came};
    c.exchange("halo", {&send, 1}, {&receive, 1});
  });
  expect_words(text, {"halo", "rank 1 expects 24 bytes from rank 0, which sends 16"});
}

TEST(Communicator, EveryWrongCallIsToldWithBothLines) {
  for (const std::uint64_t delays : {0, 1})
    for (const checks::Wrong& w : checks::wrongs()) {
      SCOPED_TRACE(w.name);
      // Not hidden by ranks that come late to what is right.
      const RankOptions options{.patience = {.tell = 0.1, .say = [](const std::string&) {}},
                                .delays = delays};
      expect_words(error_of(3, w.run, options), w.told);
    }
}

TEST(Communicator, WhoeverWaitsLongIsNotTakenForWrong) {
  // Notices that come late: each rank in turn sleeps longer than others wait before they tell.
  const RankOptions options{.patience = {.tell = 0.02, .say = [](const std::string&) {}}};
  run_ranks(
      3,
      [](Communicator& c) {
        std::optional<Channel> from, to;
        if (c.rank() > 0) from.emplace(c, c.rank() - 1, "numbers");
        if (c.rank() + 1 < c.size()) to.emplace(c, c.rank() + 1, "numbers");
        for (int k = 0; k < 6; ++k) {
          if (k % 3 == c.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(120));
          Bytes b(8);
          if (from) from->receive(b);
          if (to) to->send(b), to->finish();
          if ((k + 1) % 3 == c.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(120));
          checks::neighbours_exchange(c);
          c.broadcast(Bytes(2'000), k % 3);
          c.gather(Bytes(2'000), k % 3);
        }
      },
      options);
}

TEST(Communicator, RanksThatAreNotThereAreRefused) {
  expect_words(error_of(2, [](Communicator& c) { c.gather(Bytes(1), 2); }),
               {"there is no rank 2 among 2"});
  expect_words(error_of(2, [](Communicator& c) { c.broadcast(Bytes(1), -1); }), {"rank -1 of 2"});
  expect_words(error_of(2, [](Communicator& c) { c.all_to_all({}); }), {"0 messages for 2 ranks"});
  expect_words(error_of(0, [](Communicator&) {}), {"0 ranks"});
}

TEST(Communicator, WhoeverSleepsIsNamedAndGoesOn) {
  std::mutex mutex;
  std::vector<std::string> said;
  const unsigned line = __LINE__ + 10;
  run_ranks(3,
            [&](Communicator& c) {
              const auto both_have_told = [&] {
                const std::lock_guard lock(mutex);
                return said.size() == 2;
              };
              if (c.rank() == 2)
                for (int k = 0; k < 2000 && !both_have_told(); ++k)
                  std::this_thread::sleep_for(std::chrono::milliseconds(10));
              c.all_gather(Bytes(4));
            },
            {.patience = {.tell = 0.05, .say = [&](const std::string& text) {
                            const std::lock_guard lock(mutex);
                            said.push_back(text);
                          }}});
  ASSERT_EQ(said.size(), 2u);
  std::sort(said.begin(), said.end());
  for (int r : {0, 1})
    EXPECT_EQ(said[static_cast<std::size_t>(r)],
              "rank " + std::to_string(r) + " waits for rank 2 in all-gather, " + here(line));
}

TEST(Communicator, WhoeverSleepsTooLongEndsTheRun) {
  const std::string text =
      error_of(3,
               [](Communicator& c) {
                 if (c.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
                 c.all_gather(Bytes(4));
               },
               {.patience = {.tell = 0.05, .end = 0.2, .say = [](const std::string&) {}}});
  expect_words(text, {"waited in vain for rank 1 in all-gather", "not there after 0.2 s"});
}

TEST(Communicator, AWaitInVainIsThrownAgainByAllLaterExchanges) {
  std::atomic<bool> over{false};
  std::string first, later;
  error_of(2,
           [&](Communicator& c) {
             while (c.rank() == 1 && !over)
               std::this_thread::sleep_for(std::chrono::milliseconds(1));
             if (c.rank() == 1) return;
             try {
               c.all_gather(Bytes(4));
             } catch (const CommunicationFailed& e) {
               first = e.what();
             }
             try {
               c.broadcast(Bytes(4));
             } catch (const WaitedInVain& e) {
               later = e.what();
               EXPECT_EQ(e.ranks, std::vector<int>{1});
             }
             over = true;
           },
           {.patience = {.tell = 0.05, .end = 0.1, .say = [](const std::string&) {}}});
  expect_words(first, {"waited in vain for rank 1 in all-gather"});
  EXPECT_EQ(later, first);
}

TEST(Communicator, AFailureOfOneRankEndsAllAndIsWhatIsThrown) {
  std::atomic<int> ended{0};
  const std::string text = error_of(4, [&](Communicator& c) {
    try {
      if (c.rank() == 2) throw Error("the disk is full");
      c.barrier();
    } catch (const OtherRankFailed& e) {
      ended += e.rank == 2 && std::string(e.what()) == "rank 2: the disk is full";
      throw;
    }
  });
  EXPECT_EQ(text, "the disk is full");
  EXPECT_EQ(ended, 3);
}

TEST(Communicator, WhoeverTellsItsFailureIsHeardWhereOthersWait) {
  std::atomic<int> heard{0};
  run_ranks(4, [&](Communicator& c) {
    if (c.rank() == 1) return c.fail("no space left", 73);
    try {
      c.barrier();
    } catch (const OtherRankFailed& e) {
      heard += e.rank == 1 && e.code == 73 && std::string(e.what()) == "rank 1: no space left";
    }
  });
  EXPECT_EQ(heard, 3);
}

TEST(Channel, IsAPipelineOfItsOwnOrder) {
  // Rank r adds r to what comes and passes it on; the first is far ahead of the last.
  constexpr int messages = 40;
  for (const std::uint64_t delays : {0, 1})
    run_ranks(4,
              [](Communicator& c) {
                std::optional<Channel> from, to;
                if (c.rank() > 0) from.emplace(c, c.rank() - 1, "numbers");
                if (c.rank() + 1 < c.size()) to.emplace(c, c.rank() + 1, "numbers");
                for (std::size_t k = 0; k < messages; ++k) {
                  std::vector<int> x(k % 7, static_cast<int>(k));  // some of no bytes
                  if (from) from->receive(std::as_writable_bytes(std::span(x)));
                  for (int& v : x) v += c.rank();
                  if (to) to->send(to_bytes(x));
                  if (!to)
                    checks::require(
                        x == std::vector<int>(k % 7, static_cast<int>(k) + 0 + 1 + 2 + 3),
                        "a pipeline");
                }
                if (to) to->finish();
                c.barrier();  // exchanges go on
              },
              {.delays = delays});
}

TEST(Channel, WhatDoesNotFitIsTold) {
  const std::string text = error_of(2, [](Communicator& c) {
    Channel other(c, 1 - c.rank(), "rows");
    if (c.rank() == 0) {
      other.send(Bytes(8));
      other.finish();
    } else {
      Bytes into(16);
      other.receive(into);
    }
  });
  expect_words(text, {"rows", "rank 1 expects 16 bytes from rank 0, which sends 8"});
  expect_words(error_of(2,
                        [](Communicator& c) {
                          Channel mine(c, 1 - c.rank(), "of rank " + std::to_string(c.rank()));
                          mine.send(Bytes(8));
                          Bytes into(8);
                          mine.receive(into);
                        }),
               {"different exchanges", "of rank 0", "of rank 1"});
}

TEST(Communicator, BytesOfHalfAValueAreRefused) {
  EXPECT_THROW(from_bytes<double>(Bytes(12)), Error);
  EXPECT_TRUE(from_bytes<double>(Bytes()).empty());
}

TEST(PartSums, OfEveryElementType) {
  run_ranks(3, [](Communicator& c) {
    const PartsOfRanks cut = deal_parts(4, 3);
    const auto held =
        cut[static_cast<std::size_t>(c.rank()) + 1] - cut[static_cast<std::size_t>(c.rank())];
    const auto sum = [&]<class T>(T one) {
      const std::vector<T> mine(static_cast<std::size_t>(held), one);
      return sum_of_parts<T>(c, mine, 1, cut)[0];
    };
    checks::require(sum(1.5F) == 6.0F, "float");
    checks::require(sum(1.5) == 6.0, "double");
    checks::require(sum(std::complex<float>(1, -1)) == std::complex<float>(4, -4), "c64");
    checks::require(sum(std::complex<double>(1, -1)) == std::complex<double>(4, -4), "c128");
    checks::require(sum(std::int64_t{7}) == 28, "integers");
  });
}

TEST(PartSums, AddTheLeftHalfToTheRightOne) {
  // ((a + b) + (c + d)) + e, by hand, where any other order gives other bits.
  const std::vector<double> v{1.0, 1e16, 1.0, -1e16, 3.0};
  Communicator one = alone();
  EXPECT_EQ(sum_of_parts<double>(one, v, 1, {0, 5})[0], ((v[0] + v[1]) + (v[2] + v[3])) + v[4]);
  const std::vector<double> minus_zero{-0.0};
  EXPECT_TRUE(std::signbit(sum_of_parts<double>(one, minus_zero, 1, {0, 1})[0]));
}

TEST(PartSums, SendTheLeastThatIsPossible) {
  // Each rank a whole branch: 2 (n - 1) / n of the bytes.
  constexpr Index n = 40'000;
  for (const int ranks : {2, 4, 8})
    run_ranks(ranks, [&](Communicator& c) {
      const PartsOfRanks cut = deal_parts(8, ranks);
      const std::vector<double> mine(static_cast<std::size_t>(8 / ranks * n), 0.5);
      checks::require(sum_of_parts<double>(c, mine, n, cut)[n - 1] == 4.0, "sum");
      checks::require(c.sent_bytes() == static_cast<std::uint64_t>(2 * (ranks - 1) * n / ranks * 8),
                      "the least number of bytes");
    });
  for (const int ranks : {3, 5, 6})  // slices of unequal sizes: all ranks together
    run_ranks(ranks, [&](Communicator& c) {
      const std::vector<double> mine(static_cast<std::size_t>(n + 1), 0.5);
      sum_of_parts<double>(c, mine, n + 1, deal_parts(ranks, ranks));
      std::uint64_t sent = 0;
      for (const Bytes& b : c.all_gather(to_bytes(std::vector<std::uint64_t>{c.sent_bytes()})))
        sent += from_bytes<std::uint64_t>(b)[0];
      checks::require(sent == static_cast<std::uint64_t>(2 * (ranks - 1) * (n + 1) * 8),
                      "the least number of bytes of all");
    });
}

TEST(PartSums, RefuseWhatDoesNotFit) {
  Communicator one = alone();
  const std::vector<double> v(3);
  const auto sum = [&](Index n, const PartsOfRanks& cut) {
    return sum_of_parts<double>(one, v, n, cut);
  };
  EXPECT_THROW(sum(1, {0, 2}), Error);
  EXPECT_THROW(sum(1, {0, 1, 3}), Error);
  EXPECT_THROW(sum(1, {1, 3}), Error);
  EXPECT_THROW(sum(-1, {0, 3}), Error);
  EXPECT_EQ(sum(1, {0, 3}).size(), 1u);
}

}  // namespace
}  // namespace tessera::parallel
