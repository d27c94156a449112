// SPDX-License-Identifier: Apache-2.0
//
// Making a plan: indices are dealt to ranks in blocks, whoever owns them; the rank of a block is
// its directory. Ranks tell the directories what they own, in runs, and ask them for what they want
// of others, then ask the owners. Nothing is of the size of all indices.
#include "tessera/parallel/exchange_plan.h"

#include "agree.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace tessera::parallel {
namespace {

using Numbers = std::vector<Index>;

/// What each rank had for this one.
std::vector<Numbers> all_to_all_numbers(Communicator& c, const std::vector<Numbers>& to,
                                        SourceLine line) {
  std::vector<Bytes> bytes;
  for (const Numbers& n : to) bytes.push_back(to_bytes(n));
  std::vector<Numbers> from;
  for (const Bytes& b : c.all_to_all(std::move(bytes), line)) from.push_back(from_bytes<Index>(b));
  return from;
}

/// The elements of `v` once each, in their order, and which of them each one is.
Numbers distinct_of(std::span<const Index> v, Numbers& which) {
  Numbers distinct;
  which.resize(v.size());
  const auto add = [&](Index value, std::size_t position) {
    if (distinct.empty() || distinct.back() != value) distinct.push_back(value);
    which[position] = static_cast<Index>(distinct.size()) - 1;
  };
  if (std::is_sorted(v.begin(), v.end())) {
    for (std::size_t k = 0; k < v.size(); ++k) add(v[k], k);
    return distinct;
  }
  std::vector<std::pair<Index, std::size_t>> sorted;
  for (std::size_t k = 0; k < v.size(); ++k) sorted.emplace_back(v[k], k);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [value, position] : sorted) add(value, position);
  return distinct;
}

/// Adds a value to runs.
void add_to(ExchangePlan::Runs& runs, Index to, Index from) {
  if (!runs.empty()) {
    ExchangePlan::Run& last = runs.back();
    if (last.to + last.count == to && last.from + last.count == from) {
      ++last.count;
      return;
    }
  }
  runs.push_back({to, from, 1});
}

/// The owner of an index and where it has it.
struct Place {
  Index rank, at;
};

/// Indices index, index + 1, ... that a rank owns, at at, at + 1, ...
struct OwnedRun {
  Index index, count, rank, at;
  Index end() const { return index + count; }
};
std::vector<OwnedRun> runs_of(std::span<const Index> owned, int rank) {
  std::vector<OwnedRun> runs;
  for (std::size_t k = 0; k < owned.size(); ++k)
    if (!runs.empty() && runs.back().end() == owned[k])
      ++runs.back().count;
    else
      runs.push_back({owned[k], 1, rank, static_cast<Index>(k)});
  return runs;
}
/// Where indices are, by runs that are put in order.
class Owners {
 public:
  explicit Owners(std::vector<OwnedRun> runs) : runs_(std::move(runs)) {
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const OwnedRun& a, const OwnedRun& b) { return a.index < b.index; });
  }
  /// Empty: no index is in two of them.
  std::string of_two() const {
    for (std::size_t k = 1; k < runs_.size(); ++k)
      if (runs_[k].index < runs_[k - 1].end()) {
        const Index a = runs_[k - 1].rank, b = runs_[k].rank;
        return "index " + std::to_string(runs_[k].index) + " is owned " +
               (a == b ? "twice by rank " + std::to_string(a)
                       : "by rank " + std::to_string(a) + " and by rank " + std::to_string(b)) +
               "; each index has one owner";
      }
    return {};
  }
  /// Rank -1: nobody.
  Place find(Index index) const {
    const auto behind = std::upper_bound(runs_.begin(), runs_.end(), index,
                                         [](Index i, const OwnedRun& r) { return i < r.index; });
    if (behind == runs_.begin() || std::prev(behind)->end() <= index) return {-1, 0};
    const OwnedRun& r = *std::prev(behind);
    return {r.rank, r.at + index - r.index};
  }

 private:
  std::vector<OwnedRun> runs_;
};

/// Where each of these, of which none repeats, is. Of its own values a rank knows that.
std::vector<Place> places_of(Communicator& c, const OwnedAndWanted& mine, const Numbers& distinct,
                             Index indices, std::string& wrong, SourceLine line) {
  const auto n = static_cast<std::size_t>(c.size());
  const Index block = std::max<Index>(1, (indices + c.size() - 1) / c.size());
  const auto part_of = [&](Index index) { return static_cast<std::size_t>(index / block); };
  std::vector<Numbers> tell(n), ask(n), answers(n);
  const std::vector<OwnedRun> own_runs = runs_of(mine.owned, c.rank());
  for (OwnedRun r : own_runs)
    while (r.count > 0) {  // a piece in each part of the directory
      const std::size_t part = part_of(r.index);
      const Index count = std::min(r.count, (static_cast<Index>(part) + 1) * block - r.index);
      tell[part].insert(tell[part].end(), {r.index, count, r.at});
      r.index += count, r.at += count, r.count -= count;
    }
  const Owners own(own_runs);
  std::vector<Place> places;
  for (const Index index : distinct) {
    places.push_back(own.find(index));
    if (places.back().rank < 0) ask[part_of(index)].push_back(index);
  }
  std::vector<OwnedRun> told;
  const std::vector<Numbers> lists = all_to_all_numbers(c, tell, line);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t k = 0; k < lists[r].size(); k += 3)
      told.push_back({lists[r][k], lists[r][k + 1], static_cast<Index>(r), lists[r][k + 2]});
  const Owners directory(std::move(told));
  wrong = directory.of_two();
  const std::vector<Numbers> asked = all_to_all_numbers(c, ask, line);
  for (std::size_t r = 0; r < n; ++r)
    for (const Index index : asked[r]) {
      const Place p = directory.find(index);
      answers[r].insert(answers[r].end(), {p.rank, p.at});
    }
  const std::vector<Numbers> found = all_to_all_numbers(c, answers, line);
  std::vector<std::size_t> next(n, 0);
  for (std::size_t k = 0; k < distinct.size(); ++k) {
    if (places[k].rank >= 0) continue;
    const std::size_t r = part_of(distinct[k]);
    places[k] = {found[r][next[r]], found[r][next[r] + 1]};
    next[r] += 2;
    if (places[k].rank < 0 && wrong.empty())
      wrong = "index " + std::to_string(distinct[k]) + ", which rank " + std::to_string(c.rank()) +
              " wants a copy of, is owned by no rank";
  }
  return places;
}

/// Of what this rank says, before anybody is asked.
std::string what_is_wrong(const Communicator& c, const OwnedAndWanted& mine) {
  const std::string me = "rank " + std::to_string(c.rank());
  for (const auto& [what, list] :
       {std::pair(" owns", mine.owned), std::pair(" wants a copy of", mine.wanted)})
    for (const Index index : list)
      if (index < 0)
        return me + what + " index " + std::to_string(index) + "; indices are not negative";
  if (!mine.keys.empty() && mine.keys.size() != mine.wanted.size())
    return std::to_string(mine.keys.size()) + " keys for " + std::to_string(mine.wanted.size()) +
           " wanted copies on " + me;
  return {};
}

/// A copy as its owner sees it.
struct Copy {
  Index at, key, rank, number;  ///< number: where it lies, or comes in the message of its rank
};

}  // namespace

void agree_that_all_is_well(const char* op, Communicator& c, const std::string& wrong,
                            SourceLine line) {
  for (const Bytes& b : c.all_gather(to_bytes(std::vector<char>(wrong.begin(), wrong.end())), line))
    if (!b.empty()) {
      const std::vector<char> text = from_bytes<char>(b);
      fail(op, {text.begin(), text.end()}, line);
    }
}

/// Fills a plan, whose indices have all been found.
struct ExchangePlan::Maker {
  Communicator& c;
  SourceLine line;
  ExchangePlan& plan;
  const OwnedAndWanted& mine;
  Index first_key;                   ///< of the first copy, where none are given
  const Numbers& which;              ///< copy j is of ...
  const std::vector<Place>& places;  ///< ... places[which[j]], of which none repeats

  std::size_t ranks() const { return static_cast<std::size_t>(c.size()); }
  bool is_me(std::size_t r) const { return static_cast<int>(r) == c.rank(); }
  const Place& of_copy(std::size_t j) const { return places[static_cast<std::size_t>(which[j])]; }
  static Peer peer(std::size_t r, std::size_t count, Runs runs = {}) {
    return {static_cast<int>(r), static_cast<Index>(count), std::move(runs)};
  }

  /// Owners are asked for the values, in the order in which they have them: slot s of a message.
  void pushes() {
    std::vector<Numbers> of_rank(ranks()), ask(ranks());
    for (std::size_t k = 0; k < places.size(); ++k)
      if (const auto r = static_cast<std::size_t>(places[k].rank); !is_me(r))
        of_rank[r].push_back(static_cast<Index>(k));
    Numbers slot(places.size());
    for (std::size_t r = 0; r < ranks(); ++r) {
      const auto at = [&](Index k) { return places[static_cast<std::size_t>(k)].at; };
      std::sort(of_rank[r].begin(), of_rank[r].end(),
                [&](Index a, Index b) { return at(a) < at(b); });
      for (std::size_t s = 0; s < of_rank[r].size(); ++s) {
        slot[static_cast<std::size_t>(of_rank[r][s])] = static_cast<Index>(s);
        ask[r].push_back(at(of_rank[r][s]));
      }
      if (!ask[r].empty()) plan.pushed_to_.peers.push_back(peer(r, ask[r].size()));
    }
    Layer& layer = plan.pushed_to_.layers.emplace_back();
    layer.peers = plan.pushed_to_.peers;
    std::vector<Runs*> runs_of(ranks(), &layer.own);
    for (Peer& p : layer.peers) runs_of[static_cast<std::size_t>(p.rank)] = &p.runs;
    for (std::size_t j = 0; j < which.size(); ++j) {
      const auto r = static_cast<std::size_t>(of_copy(j).rank);
      add_to(*runs_of[r], static_cast<Index>(j),
             is_me(r) ? of_copy(j).at : slot[static_cast<std::size_t>(which[j])]);
    }
    const std::vector<Numbers> asked = all_to_all_numbers(c, ask, line);
    for (std::size_t r = 0; r < ranks(); ++r) {
      if (asked[r].empty()) continue;
      Runs runs;
      for (std::size_t s = 0; s < asked[r].size(); ++s)
        add_to(runs, static_cast<Index>(s), asked[r][s]);
      plan.pushes_.peers.push_back(peer(r, asked[r].size(), std::move(runs)));
      plan.pushes_.values += plan.pushes_.peers.back().count;
    }
  }

  /// Owners are told of the copies, in the order in which they lie here, and put them in layers.
  void pulls() {
    std::vector<Numbers> tell(ranks());
    std::vector<Runs> packed(ranks());
    std::vector<Copy> own;
    for (std::size_t j = 0; j < which.size(); ++j) {
      const Place& p = of_copy(j);
      const auto r = static_cast<std::size_t>(p.rank);
      const Index lies = static_cast<Index>(j),
                  key = mine.keys.empty() ? first_key + lies : mine.keys[j];
      if (is_me(r)) {
        own.push_back({p.at, key, p.rank, lies});
        continue;
      }
      add_to(packed[r], static_cast<Index>(tell[r].size()) / 2, lies);
      tell[r].insert(tell[r].end(), {p.at, key});
    }
    const std::vector<Numbers> told = all_to_all_numbers(c, tell, line);
    std::vector<Copy> copies;
    for (std::size_t r = 0; r < ranks(); ++r) {
      if (!tell[r].empty()) {
        plan.pulls_.peers.push_back(peer(r, tell[r].size() / 2, std::move(packed[r])));
        plan.pulls_.values += plan.pulls_.peers.back().count;
      }
      if (is_me(r)) copies.insert(copies.end(), own.begin(), own.end());
      for (std::size_t k = 0; k < told[r].size(); k += 2)
        copies.push_back(
            {told[r][k], told[r][k + 1], static_cast<Index>(r), static_cast<Index>(k / 2)});
      if (!told[r].empty()) plan.pulled_to_.peers.push_back(peer(r, told[r].size() / 2));
    }
    put_in_layers(copies);
  }
  /// Copies of one value come together in the order of ranks, then by their keys.
  void put_in_layers(const std::vector<Copy>& copies) {
    std::vector<std::size_t> end(static_cast<std::size_t>(plan.owned_) + 1, 0),
        order(copies.size());
    for (const Copy& copy : copies) ++end[static_cast<std::size_t>(copy.at) + 1];
    std::partial_sum(end.begin(), end.end(), end.begin());
    for (std::size_t k = 0; k < copies.size(); ++k)
      order[end[static_cast<std::size_t>(copies[k].at)]++] = k;
    std::vector<Layer>& layers = plan.pulled_to_.layers;
    for (std::size_t at = 0, begin = 0; at < static_cast<std::size_t>(plan.owned_);
         begin = end[at++]) {
      const std::span<std::size_t> same(order.data() + begin, end[at] - begin);
      std::stable_sort(same.begin(), same.end(),
                       [&](std::size_t a, std::size_t b) { return copies[a].key < copies[b].key; });
      for (std::size_t depth = 0; depth < same.size(); ++depth) {
        if (depth == layers.size()) layers.push_back({{}, plan.pulled_to_.peers});
        const Copy& copy = copies[same[depth]];
        add_to(runs_from(layers[depth], copy.rank), copy.at, copy.number);
      }
    }
  }
  Runs& runs_from(Layer& l, Index rank) const {
    if (rank == c.rank()) return l.own;
    return std::find_if(l.peers.begin(), l.peers.end(),
                        [&](const Peer& p) { return p.rank == rank; })
        ->runs;
  }
};

ExchangePlanPtr ExchangePlan::make(Communicator& c, const OwnedAndWanted& mine, SourceLine line) {
  std::string wrong = what_is_wrong(c, mine);
  agree_that_all_is_well("exchange_plan", c, wrong, line);

  Numbers sizes{static_cast<Index>(mine.wanted.size()), 0};  // copies; one more than any index
  for (const std::span<const Index> list : {mine.owned, mine.wanted})
    for (const Index index : list) sizes[1] = std::max(sizes[1], index + 1);
  Index indices = 0, first_key = 0;
  const std::vector<Bytes> all_sizes = c.all_gather(to_bytes(sizes), line);
  for (std::size_t r = 0; r < all_sizes.size(); ++r) {
    const Numbers s = from_bytes<Index>(all_sizes[r]);
    if (static_cast<int>(r) < c.rank()) first_key += s[0];
    indices = std::max(indices, s[1]);
  }

  Numbers which;  // copy j is of distinct[which[j]]
  const Numbers distinct = distinct_of(mine.wanted, which);
  const std::vector<Place> places = places_of(c, mine, distinct, indices, wrong, line);
  agree_that_all_is_well("exchange_plan", c, wrong, line);

  const auto plan = std::shared_ptr<ExchangePlan>(new ExchangePlan);
  plan->communicator_ = &c;
  plan->owned_ = static_cast<Index>(mine.owned.size());
  plan->copies_ = static_cast<Index>(mine.wanted.size());
  Maker maker{c, line, *plan, mine, first_key, which, places};
  maker.pushes();
  maker.pulls();
  return plan;
}

}  // namespace tessera::parallel
