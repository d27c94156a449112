// SPDX-License-Identifier: Apache-2.0
//
// What holds on any ranks: threads (communicator_test.cpp) and processes (mpi_ranks.cpp) run it.
#pragma once
#include "tessera/parallel/communicator.h"
#include "tessera/parallel/part_sums.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::parallel::checks {

inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what + " does not hold");
}

/// Numbers that nobody else has, of any length, none included.
inline std::vector<std::int64_t> numbers_of(int rank, std::size_t n) {
  std::vector<std::int64_t> v(n);
  std::iota(v.begin(), v.end(), 1000 * (rank + 1));
  return v;
}

inline void every_rank_gets_what_was_sent(Communicator& c) {
  const int me = c.rank(), n = c.size();
  for (const std::size_t length : {0, 1, 100, 127, 128, 129, 300'000}) {
    // Rank r has r more than that.
    const auto of = [&](int r) { return numbers_of(r, length + static_cast<std::size_t>(r)); };
    for (int from = 0; from < n; ++from)
      require(from_bytes<std::int64_t>(c.broadcast(to_bytes(of(me)), from)) == of(from),
              "broadcast");
    const std::vector<Bytes> all = c.all_gather(to_bytes(of(me)));
    require(static_cast<int>(all.size()) == n, "all-gather");
    for (int r = 0; r < n; ++r)
      require(from_bytes<std::int64_t>(all[static_cast<std::size_t>(r)]) == of(r), "all-gather");
    const std::vector<Bytes> here = c.gather(to_bytes(of(me)), n - 1);
    require(here.size() == (me == n - 1 ? all.size() : 0), "gather");
    require(here.empty() || here == all, "gather");
    std::vector<Bytes> to;
    for (int r = 0; r < n; ++r) to.push_back(to_bytes(of(100 * me + r)));
    const std::vector<Bytes> came = c.all_to_all(to);
    for (int r = 0; r < n; ++r)
      require(from_bytes<std::int64_t>(came[static_cast<std::size_t>(r)]) == of(100 * r + me),
              "all-to-all");
    c.barrier();
  }
}

inline void neighbours_exchange(Communicator& c) {
  const int me = c.rank(), n = c.size();
  for (std::size_t length : {1u, 50'000u}) {
    const Bytes mine = to_bytes(numbers_of(me, length));
    Bytes came(mine.size());
    const Send send{(me + 1) % n, mine};
    const Receive receive{(me + n - 1) % n, came};
    c.exchange("round the ring", {&send, 1}, {&receive, 1});
    require(from_bytes<std::int64_t>(came) == numbers_of((me + n - 1) % n, length), "exchange");
  }
}

/// Bits that are there whoever holds the parts: those of one rank with all of them.
inline void sums_belong_to_the_parts(Communicator& c) {
  std::mt19937_64 random(7);  // the same at every rank
  for (const Index parts : {0, 1, 2, 3, 5, 8, 13, 64, 100}) {
    for (const Index n : {0, 1, 5, 2'000}) {
      std::vector<double> values(static_cast<std::size_t>(parts * n));
      std::normal_distribution<double> normal;
      for (double& v : values) v = normal(random) * (random() % 3 ? 1.0 : 1e12);
      Communicator one = alone();
      const std::vector<double> want = sum_of_parts<double>(one, values, n, {0, parts});
      PartsOfRanks cut = deal_parts(parts, c.size());
      for (int dealt = 0; dealt < 3; ++dealt) {
        const auto begin = static_cast<std::size_t>(cut[static_cast<std::size_t>(c.rank())] * n),
                   end = static_cast<std::size_t>(cut[static_cast<std::size_t>(c.rank()) + 1] * n);
        const std::vector<double> got =
            sum_of_parts<double>(c, std::span(values).subspan(begin, end - begin), n, cut);
        require(std::ranges::equal(std::as_bytes(std::span(got)), std::as_bytes(std::span(want))),
                "sum of " + std::to_string(parts) + " parts of " + std::to_string(n));
        for (std::size_t r = 1; r + 1 < cut.size(); ++r)  // any uneven cut, empty ranks included
          cut[r] = static_cast<Index>(random() % static_cast<std::uint64_t>(parts + 1));
        std::sort(cut.begin(), cut.end());
      }
    }
  }
}

inline void all(Communicator& c) {
  every_rank_gets_what_was_sent(c);
  neighbours_exchange(c);
  sums_belong_to_the_parts(c);
}

}  // namespace tessera::parallel::checks
