// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/split.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/csv.h"
#include "tessera/data/random.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tessera::data {
namespace {

/// Its own stream of random numbers, so that a seed that has also drawn the samples themselves does
/// not sort them.
constexpr std::uint64_t stream = 0x73706c69740aU;

/// 0 ... n-1 in the order of random numbers, equal ones by number.
std::vector<std::int64_t> shuffled(std::int64_t n, std::uint64_t seed) {
  std::vector<std::pair<double, std::int64_t>> drawn;
  for (std::int64_t k = 0; k < n; ++k)
    drawn.emplace_back(uniform({seed, stream}, static_cast<std::uint64_t>(k)), k);
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::int64_t> order;
  for (const auto& d : drawn) order.push_back(d.second);
  return order;
}

template <class Label>
std::vector<std::int64_t> numbered(std::span<const Label> labels) {
  std::map<Label, std::int64_t> seen;
  std::vector<std::int64_t> numbers;
  for (const Label& l : labels)
    numbers.push_back(seen.emplace(l, static_cast<std::int64_t>(seen.size())).first->second);
  return numbers;
}

}  // namespace

Split split_by_group(std::span<const std::int64_t> groups, const SplitShares& shares,
                     std::uint64_t seed) {
  const auto fits = [](double share) { return share >= 0 && share <= 1; };
  if (!fits(shares.test) || !fits(shares.validation))
    throw Error("shares for test and validation are from 0 to 1, got " + number_text(shares.test) +
                " and " + number_text(shares.validation));
  std::map<std::int64_t, std::vector<std::int64_t>> members;
  for (std::size_t k = 0; k < groups.size(); ++k)
    members[groups[k]].push_back(static_cast<std::int64_t>(k));
  std::vector<const std::vector<std::int64_t>*> sets;
  for (const auto& [group, samples] : members) sets.push_back(&samples);
  std::vector<std::int64_t> order = shuffled(static_cast<std::int64_t>(sets.size()), seed);

  Split split;
  const auto take = [&](double share, std::vector<std::int64_t>& out) {
    const double wanted = std::round(share * static_cast<double>(groups.size()));
    std::vector<std::int64_t> left;
    const auto add = [&](std::int64_t g) {
      const auto& samples = *sets[static_cast<std::size_t>(g)];
      out.insert(out.end(), samples.begin(), samples.end());
    };
    const auto size_of = [&](std::int64_t g) {
      return static_cast<double>(sets[static_cast<std::size_t>(g)]->size());
    };
    for (const std::int64_t g : order) {
      const double now = static_cast<double>(out.size()), then = now + size_of(g);
      if (std::abs(then - wanted) < std::abs(now - wanted))
        add(g);
      else
        left.push_back(g);
    }
    if (share > 0 && out.empty() && !left.empty()) {
      const auto smallest = std::ranges::min_element(left, {}, size_of);
      add(*smallest);
      left.erase(smallest);
    }
    order = std::move(left);
    std::sort(out.begin(), out.end());
  };
  take(shares.test, split.test);
  take(shares.validation, split.validation);
  for (const std::int64_t g : order) {
    const auto& samples = *sets[static_cast<std::size_t>(g)];
    split.train.insert(split.train.end(), samples.begin(), samples.end());
  }
  std::sort(split.train.begin(), split.train.end());
  if (split.train.empty())
    throw Error("no sample is left to train on: " + std::to_string(groups.size()) + " samples in " +
                std::to_string(sets.size()) + " groups, " + std::to_string(split.test.size()) +
                " for test, " + std::to_string(split.validation.size()) + " for validation");
  return split;
}

Split split_at_random(std::int64_t count, const SplitShares& shares, std::uint64_t seed) {
  std::vector<std::int64_t> each(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(each.begin(), each.end(), 0);
  return split_by_group(each, shares, seed);
}

std::vector<std::int64_t> group_numbers(std::span<const std::string> labels) {
  return numbered(labels);
}
std::vector<std::int64_t> group_numbers(std::span<const double> labels) {
  for (std::size_t k = 0; k < labels.size(); ++k)
    if (std::isnan(labels[k]))
      throw Error("the group of sample " + std::to_string(k) + " is not a number");
  return numbered(labels);
}

}  // namespace tessera::data
