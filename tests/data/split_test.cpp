// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/split.h"

#include "error_text.h"
#include "tessera/data/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace tessera::data;
using tessera::testing::message_of;

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers all_of(const Split& s) {
  Numbers all = s.train;
  all.insert(all.end(), s.validation.begin(), s.validation.end());
  all.insert(all.end(), s.test.begin(), s.test.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(SplitSamples, EverySampleIsInOnePart) {
  for (const std::int64_t n : {1, 2, 3, 10, 495, 1797}) {
    const double share = n < 3 ? 0 : 0.2;
    const Split s = split_at_random(n, {share, share}, 7);
    Numbers expected(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) expected[static_cast<std::size_t>(k)] = k;
    EXPECT_EQ(all_of(s), expected);
    const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(n)));
    EXPECT_EQ(s.test.size(), wanted);
    EXPECT_EQ(s.validation.size(), wanted);
    EXPECT_TRUE(std::is_sorted(s.train.begin(), s.train.end()));
  }
}

TEST(SplitSamples, TheTestSetDoesNotFollowTheValidation) {
  const Split a = split_at_random(100, {0, 0.1}, 3), b = split_at_random(100, {0.5, 0.1}, 3);
  EXPECT_EQ(a.test, b.test);
  EXPECT_NE(a.test, split_at_random(100, {0, 0.1}, 4).test);
}

TEST(SplitSamples, IsUniform) {
  // Each of 20 samples is tested on in a tenth of 4,000 splits: 400, standard deviation 19.
  std::vector<int> times(20);
  for (std::uint64_t seed = 0; seed < 4000; ++seed)
    for (const std::int64_t k : split_at_random(20, {0, 0.1}, seed).test)
      ++times[static_cast<std::size_t>(k)];
  for (const int t : times) EXPECT_NEAR(t, 400, 5 * 19);
}

TEST(SplitSamples, DoesNotSortSamplesThatTheSameSeedHasDrawn) {
  // The mean of 100 of 1,000 uniform numbers is 1/2, standard deviation 0.029.
  for (const std::uint64_t drawn_by : {0, 1, 2, 3}) {
    double sum = 0;
    for (const std::int64_t k : split_at_random(1000, {0, 0.1}, 1).test)
      sum += uniform({1, drawn_by}, static_cast<std::uint64_t>(k));
    EXPECT_NEAR(sum / 100, 0.5, 5 * 0.029);
  }
}

TEST(SplitSamples, LargeGroupsDoNotTakeAShareThatSmallOnesMeet) {
  Numbers groups(1000, 0);
  std::fill(groups.begin() + 800, groups.begin() + 900, 1);
  std::fill(groups.begin() + 900, groups.end(), 2);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Split s = split_by_group(groups, {0.1, 0.1}, seed);
    EXPECT_EQ(s.test.size(), 100U);
    EXPECT_EQ(s.validation.size(), 100U);
    EXPECT_NE(s.test, s.validation);
  }
  // Where none brings a share nearer it has the smallest one.
  const Split few = split_by_group(groups, {0, 0.01}, 1);
  EXPECT_EQ(few.test.size(), 100U);
}

TEST(SplitSamples, GroupsStayTogether) {
  Numbers groups;
  for (std::int64_t k = 0; k < 300; ++k) groups.push_back((k * 7919) % 97 % 41);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Split s = split_by_group(groups, {0.1, 0.2}, seed);
    EXPECT_EQ(all_of(s).size(), 300U);
    EXPECT_NEAR(static_cast<double>(s.test.size()), 60, 6);
    EXPECT_NEAR(static_cast<double>(s.validation.size()), 30, 6);
    std::set<std::int64_t> seen;
    for (const Numbers& part : {s.train, s.validation, s.test}) {
      std::set<std::int64_t> here;
      for (const std::int64_t k : part) here.insert(groups[static_cast<std::size_t>(k)]);
      for (const std::int64_t g : here) EXPECT_TRUE(seen.insert(g).second);
    }
  }
}

TEST(SplitSamples, NumbersLabelsAsTheyCome) {
  const std::vector<std::string> names = {"b", "a", "b", ""};
  EXPECT_EQ(group_numbers(names), (Numbers{0, 1, 0, 2}));
  const std::vector<double> values = {0.5, -0.0, 0.0, 0.5};
  EXPECT_EQ(group_numbers(values), (Numbers{0, 1, 1, 0}));
  const std::vector<double> nan = {1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(message_of([&] { group_numbers(nan); }), "the group of sample 1 is not a number");
}

TEST(SplitSamples, SaysWhereNothingIsLeft) {
  EXPECT_EQ(message_of([] {
              split_at_random(0, {0, 0}, 1);
            }),
            "no sample is left to train on: 0 samples in 0 groups, 0 for test, 0 for validation");
  EXPECT_EQ(message_of([] {
              split_by_group(Numbers{5, 5, 5}, {0, 0.1}, 1);
            }),
            "no sample is left to train on: 3 samples in 1 groups, 3 for test, 0 for validation");
  EXPECT_EQ(message_of([] {
              split_at_random(9, {0, -0.5}, 1);
            }),
            "shares for test and validation are from 0 to 1, got -0.5 and 0");
}

}  // namespace
