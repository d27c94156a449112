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

[[noreturn]] void refuse_parts(SourceLine line, const std::string& why) {
  throw Error("[parallel] sum of parts, " + to_string(line) + ": " + why);
}
void check_parts(int ranks, Index n, const PartsOfRanks& parts, SourceLine line) {
  if (parts.size() != static_cast<std::size_t>(ranks) + 1 || parts[0] != 0 ||
      !std::is_sorted(parts.begin(), parts.end()))
    refuse_parts(line, "the parts of " + std::to_string(ranks) + " ranks begin at " +
                           std::to_string(ranks + 1) +
                           " numbers from 0 that do not fall, the last their number");
  if (n < 0) refuse_parts(line, "rows of " + std::to_string(n) + " values");
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
  check_parts(c.size(), n, parts, line);
  const auto me = static_cast<std::size_t>(c.rank());
  const Index held = parts[me + 1] - parts[me];
  if (mine.size() != static_cast<std::size_t>(held * n))
    refuse_parts(line, std::to_string(mine.size()) + " values for " + std::to_string(held) +
                           " parts of " + std::to_string(n));
  RunningSum<T> sum(parts, c.rank(), n);
  for (Index p = 0; p < held; ++p) {
    const auto row = mine.subspan(static_cast<std::size_t>(p * n), static_cast<std::size_t>(n));
    sum.add({row.begin(), row.end()});
  }
  return sum.finish(c, line);
}

template <class T>
RunningSum<T>::RunningSum(const PartsOfRanks& parts, int rank, Index n)
    : parts_(parts),
      n_(n),
      next_(parts.at(static_cast<std::size_t>(rank))),
      end_(parts.at(static_cast<std::size_t>(rank) + 1)) {}

template <class T>
void RunningSum<T>::add(std::vector<T> row) {
  if (next_ == end_ || row.size() != static_cast<std::size_t>(n_))
    throw Error("[parallel] running sum: " + std::to_string(row.size()) + " values for " +
                std::to_string(n_) + ", " + std::to_string(end_ - next_) + " parts to come");
  Sum sum{0, next_++, std::move(row)};
  while (sum.index % 2 == 1 && !sums_.empty() && sums_.back().level == sum.level) {
    std::vector<T>& left = sums_.back().row;
    for (std::size_t k = 0; k < left.size(); ++k) left[k] = left[k] + sum.row[k];
    sum = {sum.level + 1, sum.index / 2, std::move(left)};
    sums_.pop_back();
  }
  sums_.push_back(std::move(sum));
}

template <class T>
std::vector<T> RunningSum<T>::finish(Communicator& c, SourceLine line) {
  const PartsOfRanks& parts = parts_;
  const Index n = n_, total = parts.back();
  check_parts(c.size(), n, parts, line);
  if (next_ != end_) refuse_parts(line, std::to_string(end_ - next_) + " parts have not come");
  if (total == 0 || n == 0) return std::vector<T>(static_cast<std::size_t>(n));
  const int ranks = c.size(), me = c.rank();
  const auto of = [&](int r) { return static_cast<std::size_t>(r); };

  // Who finishes which values: of few each rank all, which takes one message less.
  constexpr Index kFewBytes = 1024;
  const bool few = n * static_cast<Index>(sizeof(T)) <= kFewBytes;
  const auto slice = [&](int r) {
    return few ? std::pair<Index, Index>{0, n}
               : std::pair<Index, Index>{n * r / ranks, n * (r + 1) / ranks};
  };
  const auto branches = [&](int r) { return branches_of(parts[of(r)], parts[of(r) + 1], total); };

  Known<T> own;
  for (Sum& s : sums_) own[{s.level, s.index}] = std::move(s.row);
  sums_.clear();
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
                                          const PartsOfRanks&, SourceLine);         \
  template class RunningSum<T>
TESSERA_SUM_OF(float);
TESSERA_SUM_OF(double);
TESSERA_SUM_OF(std::complex<float>);
TESSERA_SUM_OF(std::complex<double>);
TESSERA_SUM_OF(std::int64_t);
#undef TESSERA_SUM_OF

}  // namespace tessera::parallel
