// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/exchange_plan.h"

#include "dealt.h"
#include "tessera/autodiff/forall.h"
#include "tessera/parallel/exchanges.h"
#include "tessera/parallel/ghosts.h"

#include <gtest/gtest.h>

namespace tessera::parallel {
namespace {

using namespace checks;

std::string plan_error(int ranks, const std::function<void(Communicator&)>& f) {
  try {
    run_ranks(ranks, f);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

/// Element e of the value of an index.
double value_of_index(Index index, Index e) {
  return static_cast<double>((index * 31 + e * 17) % 101 - 50);
}
Tensor values_of_list(const std::vector<Index>& list, const Shape& rest) {
  std::vector<double> v;
  for (const Index i : list)
    for (Index e = 0; e < rest.count(); ++e) v.push_back(value_of_index(i, e));
  Shape s = rest;
  s.insert(0, static_cast<Index>(list.size()));
  return tensor(v, s);
}
/// y at a copy: any numbers, whose sums have other bits in other orders.
double of_copy(int rank, Index j, Index e) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank * 100'000 + j * 100 + e));
  return std::normal_distribution<double>()(random) * (random() % 3 ? 1.0 : 1e9);
}
Tensor of_copies(int rank, Index n, const Shape& rest) {
  std::vector<double> v;
  for (Index j = 0; j < n; ++j)
    for (Index e = 0; e < rest.count(); ++e) v.push_back(of_copy(rank, j, e));
  Shape s = rest;
  s.insert(0, n);
  return tensor(v, s);
}
/// What the owner gets: copies by keys, then ranks, then positions.
Tensor pulled_naively(const Dealt& d, bool keys, int rank, const Shape& rest) {
  std::map<Index, std::vector<std::tuple<Index, int, Index>>> copies;
  for (std::size_t r = 0; r < d.wanted.size(); ++r)
    for (std::size_t j = 0; j < d.wanted[r].size(); ++j)
      copies[d.wanted[r][j]].emplace_back(keys ? d.keys[r][j] : 0, static_cast<int>(r),
                                          static_cast<Index>(j));
  std::vector<double> v;
  const auto& owned = d.owned[static_cast<std::size_t>(rank)];
  for (const Index i : owned) {
    std::sort(copies[i].begin(), copies[i].end());
    for (Index e = 0; e < rest.count(); ++e) {
      double sum = 0;
      bool first = true;
      for (const auto& [key, r, j] : copies[i]) {
        sum = first ? of_copy(r, j, e) : sum + of_copy(r, j, e);
        first = false;
      }
      v.push_back(sum);
    }
  }
  Shape s = rest;
  s.insert(0, static_cast<Index>(owned.size()));
  return tensor(v, s);
}

TEST(ExchangePlan, IsWhatLoopsOverGlobalArraysDo) {
  const std::vector<Shape> rests{{}, {3}, {2, 2}, {0}, {2, 0}};
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Dealt d = deal_by_chance(ranks, 100 * static_cast<std::uint64_t>(ranks) + seed);
      run_ranks(ranks,
                [&](Communicator& c) {
                  OwnedAndWanted mine = d.of(c.rank());
                  const bool keys = seed % 2 == 0;
                  if (!keys) mine.keys = {};
                  const auto plan = ExchangePlan::make(c, mine);
                  const auto r = static_cast<std::size_t>(c.rank());
                  require(plan->owned() == static_cast<Index>(d.owned[r].size()) &&
                              plan->copies() == static_cast<Index>(d.wanted[r].size()),
                          "sizes");
                  const Shape& rest = rests[seed % rests.size()];
                  require(same_values(push(plan, values_of_list(d.owned[r], rest)),
                                      values_of_list(d.wanted[r], rest)),
                          "push");
                  require(same_values(pull_add(plan, of_copies(c.rank(), plan->copies(), rest)),
                                      pulled_naively(d, keys, c.rank(), rest)),
                          "pull_add");
                },
                {.delays = seed % 4 == 3 ? seed + 1 : 0});
    }
}

TEST(ExchangePlan, OnRanksOfAnyKind) {
  for (const int ranks : {1, 2, 5}) run_ranks(ranks, exchanges_are_transposed);
}

TEST(ExchangePlan, TakesEveryElementType) {
  const Dealt d = deal_by_chance(3, 5);
  run_ranks(3, [&](Communicator& c) {
    const auto plan = ExchangePlan::make(c, d.of(c.rank()));
    const auto r = static_cast<std::size_t>(c.rank());
    const Tensor x = values_of_list(d.owned[r], {2}), y = whole(7, {plan->copies(), 2});
    const Tensor copies = values_of_list(d.wanted[r], {2}), sums = pull_add(plan, y);
    for (const Dtype t :
         {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128, Dtype::i32, Dtype::i64}) {
      const auto as = [&](const Tensor& v) {
        return is_complex(t) ? complex(cast(v, real_of(t)), cast(2.0 * v, real_of(t))) : cast(v, t);
      };
      require(same_values(push(plan, as(x)), as(copies)), "push");
      require(same_values(pull_add(plan, as(y)), as(sums)), "pull_add");
    }
    require(same_values(push(plan, x > 0.0), copies > 0.0), "push of bool");
  });
}

TEST(ExchangePlan, SendsTheLeastThatIsPossible) {
  for (int ranks = 2; ranks <= 8; ++ranks)
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Dealt d = deal_by_chance(ranks, 1000 * static_cast<std::uint64_t>(ranks) + seed);
      run_ranks(ranks, [&](Communicator& c) {
        const auto plan = ExchangePlan::make(c, d.of(c.rank()));
        const auto me = static_cast<std::size_t>(c.rank());
        const std::set<Index> owned(d.owned[me].begin(), d.owned[me].end());
        std::uint64_t values = 0, messages = 0, copies = 0, back = 0;
        for (std::size_t r = 0; r < d.wanted.size(); ++r) {
          if (r == me) continue;
          std::set<Index> wanted;  // of mine, there
          for (const Index i : d.wanted[r])
            if (owned.contains(i)) wanted.insert(i);
          values += wanted.size(), messages += !wanted.empty();
          const std::set<Index> theirs(d.owned[r].begin(), d.owned[r].end());
          const auto here = static_cast<std::uint64_t>(
              std::count_if(d.wanted[me].begin(), d.wanted[me].end(),
                            [&](Index i) { return theirs.contains(i); }));
          copies += here, back += here > 0;
        }
        const auto sent = [&](const auto& f) {
          const std::uint64_t bytes = c.sent_bytes(), count = c.sent_messages();
          f();
          return std::pair(c.sent_bytes() - bytes, c.sent_messages() - count);
        };
        require(sent([&] {
                  push(plan, ones({plan->owned(), 3}));
                }) == std::pair(values * 24, messages),
                "bytes of push");
        require(sent([&] {
                  pull_add(plan, ones({plan->copies(), 3}));
                }) == std::pair(copies * 24, back),
                "bytes of pull_add");
        require(plan->pushed() == static_cast<Index>(values) &&
                    plan->pulled() == static_cast<Index>(copies),
                "what a plan says that it sends");
      });
    }
}

// Elements read some indices each; sums come in the order of elements, whoever holds these.
TEST(ExchangePlan, KeysMakeSumsOfTheProblem) {
  constexpr Index kIndices = 40, kElements = 90, kReads = 4;
  std::mt19937_64 random(3);
  std::vector<Index> reads;
  for (Index k = 0; k < kElements * kReads; ++k)
    reads.push_back(static_cast<Index>(random() % kIndices));
  std::vector<double> want;
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (int dealing = 0; dealing < 3; ++dealing) {
      Lists owned(static_cast<std::size_t>(ranks)), elements = owned;
      const auto any = [&] { return random() % static_cast<std::uint64_t>(ranks); };
      for (Index i = 0; i < kIndices; ++i) owned[any()].push_back(i);
      for (Index e = 0; e < kElements; ++e) elements[any()].push_back(e);
      for (auto& list : elements) std::shuffle(list.begin(), list.end(), random);
      std::vector<double> got(kIndices);
      run_ranks(ranks, [&](Communicator& c) {
        const auto me = static_cast<std::size_t>(c.rank());
        std::vector<Index> wanted, keys;
        std::vector<double> y;
        for (const Index e : elements[me])
          for (Index k = 0; k < kReads; ++k) {
            keys.push_back(e * kReads + k);
            wanted.push_back(reads[static_cast<std::size_t>(keys.back())]);
            y.push_back(of_copy(0, keys.back(), 0));
          }
        const auto plan = ExchangePlan::make(c, {owned[me], wanted, keys});
        const std::vector<double> sums = pull_add(plan, tensor(y)).to_vector();
        for (std::size_t k = 0; k < owned[me].size(); ++k)
          got[static_cast<std::size_t>(owned[me][k])] = sums[k];
      });
      if (want.empty()) want = got;
      EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(double)), 0)
          << ranks << " ranks";
    }
}

TEST(ExchangePlan, RefusesWhatHasNoOwnerOrTwo) {
  const auto error = [](Lists owned, Lists wanted, std::vector<Index> keys = {}) {
    return plan_error(static_cast<int>(owned.size()), [&](Communicator& c) {
      const auto r = static_cast<std::size_t>(c.rank());
      try {
        ExchangePlan::make(
            c, {owned[r], wanted[r],
                c.rank() == 0 ? std::span<const Index>(keys) : std::span<const Index>()});
      } catch (const OtherRankFailed&) {
        require(false, "words of its own, the same on all ranks");
      }
    });
  };
  const auto expect = [](const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' in: " << text;
    EXPECT_NE(text.find("exchange_plan_test.cpp:"), std::string::npos) << text;
  };
  expect(error({{0, 7}, {3}, {7, 9}}, {{}, {}, {}}), "index 7 is owned by rank 0 and by rank 2");
  expect(error({{0, 7}, {3, 4, 3}}, {{}, {}}), "index 3 is owned twice by rank 1");
  expect(error({{0, 7}, {3}}, {{7}, {0, 5}}),
         "index 5, which rank 1 wants a copy of, is owned by no rank");
  expect(error({{}, {}}, {{}, {1'000'000'000'000}}), "is owned by no rank");
  expect(error({{0}, {-3}}, {{}, {}}), "rank 1 owns index -3");
  expect(error({{0}, {1}}, {{0, 1}, {-1}}), "rank 1 wants a copy of index -1");
  expect(error({{0}, {1}}, {{0, 1}, {}}, {5}), "1 keys for 2 wanted copies on rank 0");
  EXPECT_EQ(error({{}, {}}, {{}, {}}), "");
  EXPECT_EQ(error({{1'000'000'000'000}, {0}}, {{0}, {1'000'000'000'000}}), "");
}

TEST(ExchangePlan, SaysWhatItTakes) {
  const unsigned line = __LINE__ + 4;
  const auto message = [&](const Shape& shape) {
    return plan_error(1, [&](Communicator& c) {
      const auto plan = ExchangePlan::make(c, {std::vector<Index>{0, 1, 2}, std::vector<Index>{2}});
      push(plan, ones(shape));
    });
  };
  EXPECT_EQ(message({3}), "");
  for (const Shape& s : {Shape{}, Shape{4, 3}}) {
    const std::string text = message(s);
    EXPECT_NE(text.find("[push] takes [3, ...], what this rank owns, got " +
                        to_string(Type{Dtype::f64, s})),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("exchange_plan_test.cpp:" + std::to_string(line)), std::string::npos)
        << text;
  }
}

TEST(ExchangePlan, OtherShapesOnOtherRanksAreToldWithTheirLines) {
  const std::string text = plan_error(2, [](Communicator& c) {
    const std::vector<Index> all{0, 1}, mine{c.rank()};
    const auto plan = ExchangePlan::make(c, {mine, all});
    if (c.rank() == 0)
      push(plan, ones({1, 2}));
    else
      push(plan, ones({1, 3}));
  });
  for (const char* words : {"different exchanges", "push f64[*,2], exchange_plan_test.cpp:",
                            "push f64[*,3], exchange_plan_test.cpp:"})
    EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' in: " << text;
}

// ---- ghosts ----

struct Cuts {
  std::vector<Index> grid;
  std::vector<std::vector<Index>> begins;  ///< of each axis
  GridBox box(int rank) const {
    GridBox b;
    b.grid = grid;
    for (std::size_t d = grid.size(); d-- > 0;) {
      const int pieces = static_cast<int>(begins[d].size()) - 1;
      const auto k = static_cast<std::size_t>(rank % pieces);
      rank /= pieces;
      b.begin.insert(b.begin.begin(), begins[d][k]);
      b.end.insert(b.end.begin(), begins[d][k + 1]);
    }
    return b;
  }
};
Cuts cut_by_chance(int ranks, std::size_t axes, std::mt19937_64& random) {
  std::vector<int> pieces(axes, 1);
  for (int p = 2, rest = ranks; rest > 1; ++p)
    while (rest % p == 0) pieces[random() % axes] *= p, rest /= p;
  Cuts c;
  for (std::size_t d = 0; d < axes; ++d) {
    const Index n = static_cast<Index>(1 + random() % 9);
    c.grid.push_back(n);
    c.begins.push_back({0, n});
    for (int k = 1; k < pieces[d]; ++k)
      c.begins[d].push_back(static_cast<Index>(random() % static_cast<std::uint64_t>(n + 1)));
    std::sort(c.begins[d].begin(), c.begins[d].end());
  }
  return c;
}

TEST(Ghosts, AreThePointsAroundABox) {
  std::mt19937_64 random(11);
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (int trial = 0; trial < 12; ++trial) {
      const std::size_t axes = 1 + random() % 3;
      const Cuts cuts = cut_by_chance(ranks, axes, random);
      std::vector<Index> low, high;
      std::vector<bool> periodic;
      for (std::size_t d = 0; d < axes; ++d) {
        low.push_back(static_cast<Index>(random() % 6)),
            high.push_back(static_cast<Index>(random() % 6));
        periodic.push_back(random() % 2);
      }
      run_ranks(ranks, [&](Communicator& c) {
        GridBox box = cuts.box(c.rank());
        box.low = low, box.high = high, box.periodic = periodic;
        const Ghosts g = ghosts(c, box);
        // Point p of the grid has p as its value.
        const auto fill = [&](const Shape& extent, const std::vector<Index>& origin) {
          std::vector<double> v;
          for (Index k = 0; k < extent.count(); ++k) {
            Index rest = k, number = 0, stride = 1;
            for (std::size_t d = axes; d-- > 0;) {
              const Index e = extent[static_cast<int>(d)], n = box.grid[d];
              const Index p = (origin[d] + rest % e + 100 * n) % n;
              rest /= e;
              number += p * stride, stride *= n;
            }
            for (int e = 0; e < 2; ++e) v.push_back(static_cast<double>(2 * number + e));
          }
          Shape s = extent;
          s.push_back(2);
          return tensor(v, s);
        };
        for (std::size_t d = 0; d < axes; ++d) {
          const bool round = periodic[d], empty = box.begin[d] == box.end[d];
          const Index first = box.begin[d] - low[d], last = box.end[d] + high[d];
          require(g.origin[d] == (round ? first : std::max<Index>(0, first)), "origin");
          if (!empty)
            require(g.copies[static_cast<int>(d)] ==
                        (round ? last : std::min(box.grid[d], last)) - g.origin[d],
                    "extent");
        }
        const Tensor u = fill(g.owned, box.begin), wide = with_ghosts(g, u);
        require(same_values(wide, fill(g.copies, g.origin)), "ghosts");
        // The transpose, in whole numbers.
        const Tensor y = whole(static_cast<std::uint64_t>(trial * 10 + c.rank()), wide.shape());
        require(over_ranks(c, dot(y, wide)) == over_ranks(c, dot(add_ghosts(g, y), u)),
                "<y, A u> = <A' y, u>");
      });
    }
}

// Long lists are copied and added on several threads.
TEST(Ghosts, OfLargeBoxes) {
  const int before = num_threads();
  set_num_threads(4);
  run_ranks(2, [](Communicator& c) {
    const Index half = 84, n = 168;  // past the caches, too
    const Ghosts g = ghosts(c, {.grid = {n, n, n},
                                .begin = {half * c.rank(), 0, 0},
                                .end = {half * (c.rank() + 1), n, n},
                                .low = {2, 1, 3},
                                .high = {1, 2, 1},
                                .periodic = {true, true, true}});
    const Tensor u = whole(static_cast<std::uint64_t>(c.rank()), g.owned), wide = with_ghosts(g, u);
    const Tensor y = whole(static_cast<std::uint64_t>(c.rank()) + 5, g.copies);
    require(over_ranks(c, dot(y, wide)) == over_ranks(c, dot(add_ghosts(g, y), u)),
            "<y, A u> = <A' y, u>");
    require(same_values(slice(slice(slice(wide, 0, 2, 2 + half), 1, 1, 1 + n), 2, 3, 3 + n), u),
            "the box itself");
  });
  set_num_threads(before);
}

TEST(Ghosts, OfOneRankAreItsOwnPoints) {
  Communicator c = alone();
  const Ghosts g = ghosts(
      c, {.grid = {3}, .begin = {0}, .end = {3}, .low = {4}, .high = {1}, .periodic = {true}});
  EXPECT_EQ(with_ghosts(g, tensor({1.0, 2.0, 3.0})).to_vector(),
            (std::vector<double>{3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(c.sent_messages(), 0u);
  EXPECT_EQ(g.plan->pushed(), 0);
}

TEST(Ghosts, SendFacesEdgesAndCornersOnce) {
  // 2 x 2 x 2 boxes of 4 x 5 x 6: formula of a box in the corner of the grid.
  run_ranks(8, [](Communicator& c) {
    const int r = c.rank(), at[] = {r / 4, r / 2 % 2, r % 2};
    const Index n[] = {4, 5, 6};
    GridBox b{.grid = {8, 10, 12},
              .low = {2, 2, 2},
              .high = {2, 2, 2},
              .periodic = {false, false, false}};
    for (int d = 0; d < 3; ++d)
      b.begin.push_back(at[d] * n[d]), b.end.push_back((at[d] + 1) * n[d]);
    const Ghosts g = ghosts(c, b);
    const std::uint64_t before = c.sent_bytes(), messages = c.sent_messages();
    with_ghosts(g, ones(g.owned));
    const Index faces = 2 * (4 * 5 + 5 * 6 + 6 * 4), edges = 4 * (4 + 5 + 6), corner = 8;
    require(c.sent_bytes() - before == static_cast<std::uint64_t>(8 * (faces + edges + corner)),
            "bytes");
    require(c.sent_messages() - messages == 7, "messages");
  });
}

TEST(Ghosts, RefuseWhatDoesNotFit) {
  const auto message = [](GridBox b) {
    return plan_error(1, [&](Communicator& c) { ghosts(c, b); });
  };
  const GridBox good{{4, 4}, {0, 0}, {4, 4}, {1, 1}, {1, 1}, {true, false}};
  EXPECT_EQ(message(good), "");
  GridBox b = good;
  b.low = {1};
  EXPECT_NE(message(b).find("a number for each of 2 axes, got 1"), std::string::npos);
  b = good, b.end = {4, 5};
  EXPECT_NE(message(b).find("axis 1: points 0 to 5 of 4"), std::string::npos);
  b = good, b.high = {-1, 0};
  EXPECT_NE(message(b).find("widths are not negative"), std::string::npos);
  b = good, b.end = {3, 4};
  EXPECT_NE(message(b).find("is owned by no rank"), std::string::npos);
  const std::string shape = plan_error(1, [&](Communicator& c) {
    with_ghosts(ghosts(c, good), ones({4, 3, 4}));
  });
  EXPECT_NE(shape.find("[with_ghosts] takes a box [4,4] and further axes, got f64[4,3,4]"),
            std::string::npos)
      << shape;
}

}  // namespace
}  // namespace tessera::parallel
