// SPDX-License-Identifier: Apache-2.0
//
//   data::JoinedSets sets(atoms);
//   for (const auto& [i, j] : bonds) sets.join(i, j);
//   const std::int32_t molecule = sets.set_of(k);
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tessera::data {

/// Numbers 0 ... n - 1 in sets that pairs join, whatever their order; a set is called by the least
/// of its numbers.
class JoinedSets {
 public:
  explicit JoinedSets(std::size_t n) : next_(n) { std::iota(next_.begin(), next_.end(), 0); }

  /// The name of the set that holds `a`.
  std::int32_t set_of(std::int32_t a) {
    while (next(a) != a) a = next(a) = next(next(a));
    return a;
  }
  /// Whether they were in two sets.
  bool join(std::int32_t a, std::int32_t b) {
    a = set_of(a), b = set_of(b);
    next(std::max(a, b)) = std::min(a, b);
    return a != b;
  }

 private:
  std::int32_t& next(std::int32_t a) { return next_[static_cast<std::size_t>(a)]; }
  std::vector<std::int32_t> next_;  ///< of its set, nearer to the least; of that: itself
};

}  // namespace tessera::data
