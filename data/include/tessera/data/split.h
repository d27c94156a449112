// SPDX-License-Identifier: Apache-2.0
//
// Which samples a model learns from, is chosen by, and is tested on. The test set follows from the
// seed and its share alone, whatever is kept for validation.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

/// Numbers of samples from 0, ascending; each sample is in one of the three.
struct Split {
  std::vector<std::int64_t> train, validation, test;
};
/// Of all samples; in [0, 1], together below 1. A share above 0 has one sample or group at least.
struct SplitShares {
  double validation = 0.1, test = 0.1;
};

/// round(share count) samples for test, then for validation, drawn from `seed`. Throws Error where
/// nothing is left to train on, or for shares out of their range.
Split split_at_random(std::int64_t count, const SplitShares& shares, std::uint64_t seed);
/// Samples with equal `groups` stay together: groups in an order drawn from `seed`, each to the
/// test set where that brings its samples nearer to its share (the smallest one where none does),
/// then so for validation. Throws as above.
Split split_by_group(std::span<const std::int64_t> groups, const SplitShares& shares,
                     std::uint64_t seed);

/// Labels as numbers of groups, in the order in which they come first.
std::vector<std::int64_t> group_numbers(std::span<const std::string> labels);
/// The same of numbers, which are one group where they are equal; NaN throws Error with its place.
std::vector<std::int64_t> group_numbers(std::span<const double> labels);

}  // namespace tessera::data
