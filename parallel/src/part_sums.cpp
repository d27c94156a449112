// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/part_sums.h"

#include "part_tree.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <complex>
#include <map>
#include <memory>

namespace tessera::parallel {
namespace {

/// Values [n] of branches that are known.
template <class T>
using Known = std::map<Branch, const T*>;

/// out [n] = the sum of a branch, from those that are known: its left half plus its right one.
template <class T>
void add_up(const Branch& b, const Known<T>& known, Index parts, Index n, T* out) {
  if (const auto it = known.find(b); it != known.end()) {
    std::copy_n(it->second, n, out);
    return;
  }
  add_up(b.half(0), known, parts, n, out);
  const Branch right = b.half(1);
  if (right.begin() >= parts) return;
  std::vector<T> sum;
  const auto it = known.find(right);
  if (it == known.end()) {
    sum.resize(static_cast<std::size_t>(n));
    add_up(right, known, parts, n, sum.data());
  }
  const T* const x = it == known.end() ? sum.data() : it->second;
  for (Index k = 0; k < n; ++k) out[k] = out[k] + x[k];
}

Branch root(Index parts) {
  Branch b{0, 0};
  while ((Index{1} << b.level) < parts) ++b.level;
  return b;
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

PartsOfRanks deal_parts(Index parts, int ranks) {
  PartsOfRanks begin{0};
  for (int r = 0; r < ranks; ++r)
    begin.push_back(begin.back() + parts / ranks + (r < parts % ranks));
  return begin;
}

template <class T>
void sum_of_parts(Communicator& c, std::span<const T> mine, Index n, const PartsOfRanks& parts,
                  T* all, SourceLine line) {
  check_parts(c.size(), n, parts, line);
  const auto me = static_cast<std::size_t>(c.rank());
  const Index held = parts[me + 1] - parts[me];
  if (mine.size() != static_cast<std::size_t>(held * n))
    refuse_parts(line, std::to_string(mine.size()) + " values for " + std::to_string(held) +
                           " parts of " + std::to_string(n));
  const std::vector<Branch> branches = branches_of(parts[me], parts[me + 1], parts.back());
  if (branches.size() == static_cast<std::size_t>(held))  // none has two parts
    return sum_of_branches<T>(c, mine, n, parts, all, line);
  Known<T> known;
  for (Index p = 0; p < held; ++p) known[{0, parts[me] + p}] = mine.data() + p * n;
  const std::size_t size = branches.size() * static_cast<std::size_t>(n);
  const auto sums = std::make_unique_for_overwrite<T[]>(size);
  for (std::size_t b = 0; b < branches.size(); ++b)
    add_up(branches[b], known, parts.back(), n, sums.get() + static_cast<Index>(b) * n);
  sum_of_branches<T>(c, {sums.get(), size}, n, parts, all, line);
}
template <class T>
std::vector<T> sum_of_parts(Communicator& c, std::span<const T> mine, Index n,
                            const PartsOfRanks& parts, SourceLine line) {
  check_parts(c.size(), n, parts, line);
  std::vector<T> all(static_cast<std::size_t>(n));
  sum_of_parts<T>(c, mine, n, parts, all.data(), line);
  return all;
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
  check_parts(c.size(), n_, parts_, line);
  if (next_ != end_) refuse_parts(line, std::to_string(end_ - next_) + " parts have not come");
  Known<T> known;
  for (const Sum& s : sums_) known[{s.level, s.index}] = s.row.data();
  const auto me = static_cast<std::size_t>(c.rank());
  const std::vector<Branch> branches = branches_of(parts_[me], parts_[me + 1], parts_.back());
  std::vector<T> sums(branches.size() * static_cast<std::size_t>(n_));
  for (std::size_t b = 0; b < branches.size(); ++b)
    add_up(branches[b], known, parts_.back(), n_, sums.data() + static_cast<Index>(b) * n_);
  sums_.clear();
  std::vector<T> all(static_cast<std::size_t>(n_));
  sum_of_branches<T>(c, sums, n_, parts_, all.data(), line);
  return all;
}

template <class T>
void sum_of_branches(Communicator& c, std::span<const T> mine, Index n, const PartsOfRanks& parts,
                     T* all, SourceLine line) {
  check_parts(c.size(), n, parts, line);
  const int ranks = c.size(), me = c.rank();
  const auto of = [&](int r) { return static_cast<std::size_t>(r); };
  const Index total = parts.back();
  if (total == 0) std::fill_n(all, n, T(0));
  if (total == 0 || n == 0) return;
  if (ranks == 1) {
    std::copy_n(mine.data(), n, all);
    return;
  }

  // Who finishes which values: of few each rank all, which takes one message less.
  constexpr Index kFewBytes = 1024;
  const bool few = n * static_cast<Index>(sizeof(T)) <= kFewBytes;
  const auto slice = [&](int r) {
    return few ? std::pair<Index, Index>{0, n}
               : std::pair<Index, Index>{n * r / ranks, n * (r + 1) / ranks};
  };
  std::vector<std::vector<Branch>> branches;
  Index others = 0;  // branches of other ranks
  for (int r = 0; r < ranks; ++r) {
    branches.push_back(branches_of(parts[of(r)], parts[of(r) + 1], total));
    if (r != me) others += static_cast<Index>(branches.back().size());
  }
  const auto held = static_cast<Index>(branches[of(me)].size());
  const auto [begin, end] = slice(me);
  const Index length = end - begin;

  // Memory that is not set before it is written: my slice of others' branches, and where this rank
  // has several, theirs of mine side by side.
  const auto came = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(others * length));
  const auto sent =
      std::make_unique_for_overwrite<T[]>(held > 1 ? static_cast<std::size_t>(held * n) : 0);
  std::vector<Send> send;
  std::vector<Receive> receive;
  const auto values = [](const T* first, Index count) {
    return std::as_bytes(std::span(first, static_cast<std::size_t>(count)));
  };
  Known<T> known;
  T* from = came.get();
  for (int r = 0; r < ranks; ++r) {
    const auto of_rank = static_cast<Index>(branches[of(r)].size());
    if (length == 0 || of_rank == 0) continue;
    for (Index b = 0; b < of_rank; ++b)
      known[branches[of(r)][static_cast<std::size_t>(b)]] =
          r == me ? mine.data() + b * n + begin : from + b * length;
    if (r == me) continue;
    receive.push_back(
        {r, std::as_writable_bytes(std::span(from, static_cast<std::size_t>(of_rank * length)))});
    from += of_rank * length;
  }
  for (int r = 0; r < ranks; ++r) {
    const auto [first, last] = slice(r);
    if (r == me || last == first || held == 0) continue;
    if (held == 1 || few) {
      send.push_back({r, values(mine.data() + (few ? 0 : first), few ? held * n : last - first)});
      continue;
    }
    T* const slices = sent.get() + held * first;
    for (Index b = 0; b < held; ++b)
      std::copy(mine.data() + b * n + first, mine.data() + b * n + last,
                slices + b * (last - first));
    send.push_back({r, values(slices, held * (last - first))});
  }
  const std::string what = "sum of " + std::to_string(total) + " parts of " + std::to_string(n);
  c.exchange(what, send, receive, line);

  T* const sum = all + begin;
  if (length > 0) add_up(root(total), known, total, length, sum);
  if (few) return;

  send.clear(), receive.clear();
  for (int r = 0; r < ranks; ++r) {
    const auto [first, last] = slice(r);
    if (r == me) continue;
    if (length > 0) send.push_back({r, values(sum, length)});
    if (last > first)
      receive.push_back({r, std::as_writable_bytes(
                                std::span(all + first, static_cast<std::size_t>(last - first)))});
  }
  c.exchange(what + ": its slices", send, receive, line);
}

#define TESSERA_SUM_OF(T)                                                                          \
  template std::vector<T> sum_of_parts<T>(Communicator&, std::span<const T>, Index,                \
                                          const PartsOfRanks&, SourceLine);                        \
  template void sum_of_parts<T>(Communicator&, std::span<const T>, Index, const PartsOfRanks&, T*, \
                                SourceLine);                                                       \
  template void sum_of_branches<T>(Communicator&, std::span<const T>, Index, const PartsOfRanks&,  \
                                   T*, SourceLine);                                                \
  template class RunningSum<T>
TESSERA_SUM_OF(float);
TESSERA_SUM_OF(double);
TESSERA_SUM_OF(std::complex<float>);
TESSERA_SUM_OF(std::complex<double>);
TESSERA_SUM_OF(std::int64_t);
#undef TESSERA_SUM_OF

}  // namespace tessera::parallel
