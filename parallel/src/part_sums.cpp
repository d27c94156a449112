// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/part_sums.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <complex>
#include <map>

namespace tessera::parallel {
namespace {

/// Of the tree over all parts: it covers [index 2^level, (index + 1) 2^level).
struct Branch {
  int level;
  Index index;
  auto operator<=>(const Branch&) const = default;
  Index begin() const { return index << level; }
  Index end(Index parts) const { return std::min((index + 1) << level, parts); }
  Branch half(int which) const { return {level - 1, 2 * index + which}; }
};

/// The whole branches that parts [begin, end) are made of, from the left.
std::vector<Branch> branches_of(Index begin, Index end, Index parts) {
  std::vector<Branch> all;
  while (begin < end) {
    Branch b{0, begin};
    while (b.index % 2 == 0 && (Index{1} << b.level) < parts) {
      const Branch larger{b.level + 1, b.index / 2};
      if (larger.end(parts) > end) break;
      b = larger;
    }
    all.push_back(b);
    begin = b.end(parts);
  }
  return all;
}

/// Values of a slice [n] of each branch that is known.
template <class T>
using Known = std::map<Branch, std::vector<T>>;

/// The sum of a branch, from those that are known.
template <class T>
std::vector<T> sum_of(const Branch& b, const Known<T>& known, Index parts) {
  if (const auto it = known.find(b); it != known.end()) return it->second;
  std::vector<T> sum = sum_of(b.half(0), known, parts);
  if (b.half(1).begin() < parts) {
    const std::vector<T> right = sum_of(b.half(1), known, parts);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] = sum[k] + right[k];
  }
  return sum;
}

Branch root(Index parts) {
  Branch b{0, 0};
  while ((Index{1} << b.level) < parts) ++b.level;
  return b;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}

}  // namespace

PartsOfRanks deal_parts(Index parts, int ranks) {
  PartsOfRanks begin{0};
  for (int r = 0; r < ranks; ++r)
    begin.push_back(begin.back() + parts / ranks + (r < parts % ranks));
  return begin;
}

template <class T>
std::vector<T> sum_of_parts(Communicator& c, std::span<const T> mine, Index n,
                            const PartsOfRanks& parts, SourceLine line) {
  const auto refuse = [&](const std::string& why) {
    throw Error("[parallel] sum of parts, " + to_string(line) + ": " + why);
  };
  const int ranks = c.size(), me = c.rank();
  if (parts.size() != static_cast<std::size_t>(ranks) + 1 || parts[0] != 0 ||
      !std::is_sorted(parts.begin(), parts.end()))
    refuse("the parts of " + std::to_string(ranks) + " ranks begin at " +
           std::to_string(ranks + 1) + " numbers from 0 that do not fall, the last their number");
  const auto of = [&](int r) { return static_cast<std::size_t>(r); };
  const Index total = parts.back(), held = parts[of(me) + 1] - parts[of(me)];
  if (n < 0 || mine.size() != static_cast<std::size_t>(held * n))
    refuse(std::to_string(mine.size()) + " values for " + std::to_string(held) + " parts of " +
           std::to_string(n));
  if (total == 0 || n == 0) return std::vector<T>(static_cast<std::size_t>(n));

  // Who finishes which values: of few each rank all, which takes one message less.
  constexpr Index kFewBytes = 1024;
  const bool few = n * static_cast<Index>(sizeof(T)) <= kFewBytes;
  const auto slice = [&](int r) {
    return few ? std::pair<Index, Index>{0, n}
               : std::pair<Index, Index>{n * r / ranks, n * (r + 1) / ranks};
  };
  const auto branches = [&](int r) { return branches_of(parts[of(r)], parts[of(r) + 1], total); };

  Known<T> own;
  for (Index p = 0; p < held; ++p) {
    const auto row = mine.subspan(static_cast<std::size_t>(p * n), static_cast<std::size_t>(n));
    own[{0, parts[of(me)] + p}].assign(row.begin(), row.end());
  }
  std::vector<std::vector<T>> to(of(ranks)), from(of(ranks));
  for (const Branch& b : branches(me)) {
    const std::vector<T> sum = sum_of(b, own, total);
    for (int r = 0; r < ranks; ++r) {
      const auto [begin, end] = slice(r);
      to[of(r)].insert(to[of(r)].end(), sum.begin() + begin, sum.begin() + end);
    }
  }
  const std::string what = "sum of " + std::to_string(total) + " parts of " + std::to_string(n);
  const auto [begin, end] = slice(me);
  std::vector<Send> send;
  std::vector<Receive> receive;
  for (int r = 0; r < ranks; ++r) {
    if (!to[of(r)].empty()) send.push_back({r, bytes_of(to[of(r)])});
    from[of(r)].resize(branches(r).size() * static_cast<std::size_t>(end - begin));
    if (!from[of(r)].empty())
      receive.push_back({r, std::as_writable_bytes(std::span(from[of(r)]))});
  }
  c.exchange(what, send, receive, line);

  Known<T> known;
  for (int r = 0; r < ranks; ++r) {
    auto at = from[of(r)].begin();
    for (const Branch& b : branches(r)) {
      known[b].assign(at, at + (end - begin));
      at += end - begin;
    }
  }
  std::vector<T> sum = sum_of(root(total), known, total);
  if (few) return sum;

  std::vector<T> all(static_cast<std::size_t>(n));
  send.clear(), receive.clear();
  for (int r = 0; r < ranks; ++r) {
    const auto [first, last] = slice(r);
    if (!sum.empty()) send.push_back({r, bytes_of(sum)});
    if (last > first)
      receive.push_back(
          {r, std::as_writable_bytes(std::span(all).subspan(
                  static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)))});
  }
  c.exchange(what + ": its slices", send, receive, line);
  return all;
}

#define TESSERA_SUM_OF(T)                                                           \
  template std::vector<T> sum_of_parts<T>(Communicator&, std::span<const T>, Index, \
                                          const PartsOfRanks&, SourceLine)
TESSERA_SUM_OF(float);
TESSERA_SUM_OF(double);
TESSERA_SUM_OF(std::complex<float>);
TESSERA_SUM_OF(std::complex<double>);
TESSERA_SUM_OF(std::int64_t);
#undef TESSERA_SUM_OF

}  // namespace tessera::parallel
