// SPDX-License-Identifier: Apache-2.0
//
// Index sets dealt to ranks by chance, the same at every rank, and what plans make of them by naive
// loops over global arrays.
#pragma once
#include "checks.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"

#include <cstring>
#include <map>
#include <set>

namespace tessera::parallel::checks {

using Lists = std::vector<std::vector<Index>>;  ///< one for each rank

struct Dealt {
  std::vector<Index> indices;  ///< all that somebody owns
  Lists owned, wanted, keys;
  OwnedAndWanted of(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {owned[r], wanted[r], keys[r]};
  }
};
/// Gaps between indices, some ranks without any, repeats; keys of few values, so that some are
/// equal.
inline Dealt deal_by_chance(int ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<std::size_t>(ranks);
  Dealt d{{}, Lists(n), Lists(n), Lists(n)};
  const std::size_t count = random() % 60;
  for (std::size_t k = 0; k < count; ++k) d.indices.push_back(static_cast<Index>(5 * k + 2));
  std::vector<Index> shuffled = d.indices;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  for (const Index i : shuffled) d.owned[random() % n / (seed % 3 == 0 ? 2 : 1)].push_back(i);
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t wants = count == 0 || random() % 4 == 0 ? 0 : random() % 50;
    for (std::size_t k = 0; k < wants; ++k) {
      d.wanted[r].push_back(d.indices[random() % count]);
      d.keys[r].push_back(static_cast<Index>(random() % 9) - 4);
    }
  }
  return d;
}

/// Whole numbers as doubles.
inline std::vector<double> whole_numbers(std::uint64_t seed, Index n) {
  std::mt19937_64 random(seed);
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) x = static_cast<double>(random() % 19) - 9;
  return v;
}
inline Tensor whole(std::uint64_t seed, const Shape& shape, Dtype dtype = Dtype::f64) {
  return cast(tensor(whole_numbers(seed, shape.count()), shape), dtype);
}
inline bool same_values(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  const Tensor x = contiguous(a), y = contiguous(b);
  return std::memcmp(x.view().data, y.view().data,
                     static_cast<std::size_t>(x.size()) * size_of(x.dtype())) == 0 ||
         x.size() == 0;
}
/// The sum over ranks.
inline double over_ranks(Communicator& c, double mine) {
  double sum = 0;
  for (const Bytes& b : c.all_gather(to_bytes(std::vector<double>{mine})))
    sum += from_bytes<double>(b)[0];
  return sum;
}
inline double dot(const Tensor& a, const Tensor& b) { return sum(a * b).item(); }

/// On ranks of any kind: plans by chance, short and long messages, a derivative through them.
inline void exchanges_are_transposed(Communicator& c) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Dealt d = deal_by_chance(c.size(), seed);
    const auto plan = ExchangePlan::make(c, d.of(c.rank()));
    const Index width = seed == 4 ? 2'000 : 3;
    const std::uint64_t mine = 10 * seed + static_cast<std::uint64_t>(c.rank());
    const Tensor x = whole(mine, {plan->owned(), width}),
                 y = whole(mine + 5, {plan->copies(), width});
    const Tensor ax = push(plan, x), aty = pull_add(plan, y);
    require(over_ranks(c, dot(y, ax)) == over_ranks(c, dot(aty, x)), "<y, A x> = <A' y, x>");
    const PartsOfRanks rows = rows_of_ranks(c, plan->copies());
    const auto loss = [&](Tensor v) {
      return sum_over_ranks(c, sum(square(all_gather(c, rows, push(plan, v)))));
    };
    require(same_values(grad(loss)(x), 2.0 * static_cast<double>(c.size()) * pull_add(plan, ax)),
            "gradient");
  }
}

}  // namespace tessera::parallel::checks
