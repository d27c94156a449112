// SPDX-License-Identifier: Apache-2.0
//
// Making a plan: indices are dealt to ranks in blocks, whoever owns them; the rank of a block is
// its directory. Ranks tell the directories what they own and ask them for what they want, then ask
// the owners. Four all-to-alls of what is owned and wanted, nothing of the size of all indices.
#include "tessera/parallel/exchange_plan.h"

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

/// What is wrong on any rank is thrown on all: the words of the first that has some.
void agree_that_all_is_well(Communicator& c, const std::string& wrong, SourceLine line) {
  for (const Bytes& b : c.all_gather(to_bytes(std::vector<char>(wrong.begin(), wrong.end())), line))
    if (!b.empty()) {
      const std::vector<char> text = from_bytes<char>(b);
      fail("exchange_plan", {text.begin(), text.end()}, line);
    }
}

/// Positions of the elements of `v` in the order of their values, equal ones as they come.
Numbers sorted_positions(std::span<const Index> v) {
  Numbers at(v.size());
  std::iota(at.begin(), at.end(), Index{0});
  std::stable_sort(at.begin(), at.end(), [&](Index a, Index b) {
    return v[static_cast<std::size_t>(a)] < v[static_cast<std::size_t>(b)];
  });
  return at;
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

/// This rank's part of the directory.
class Directory {
 public:
  /// `told[r]`: what rank r owns of this part, then as many positions.
  Directory(const std::vector<Numbers>& told, std::string& wrong) {
    for (std::size_t r = 0; r < told.size(); ++r) {
      const std::size_t n = told[r].size() / 2;
      for (std::size_t k = 0; k < n; ++k)
        entries_.push_back({told[r][k], {static_cast<Index>(r), told[r][n + k]}});
    }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.index < b.index; });
    for (std::size_t k = 1; k < entries_.size() && wrong.empty(); ++k)
      if (entries_[k].index == entries_[k - 1].index) {
        const Index a = entries_[k - 1].place.rank, b = entries_[k].place.rank;
        wrong = "index " + std::to_string(entries_[k].index) + " is owned " +
                (a == b ? "twice by rank " + std::to_string(a)
                        : "by rank " + std::to_string(a) + " and by rank " + std::to_string(b)) +
                "; each index has one owner";
      }
  }
  /// Rank -1: nobody.
  Place find(Index index) const {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), index,
                                     [](const Entry& e, Index i) { return e.index < i; });
    return it == entries_.end() || it->index != index ? Place{-1, 0} : it->place;
  }

 private:
  struct Entry {
    Index index;
    Place place;
  };
  std::vector<Entry> entries_;
};

/// Where each of these, of which none repeats, is.
std::vector<Place> places_of(Communicator& c, const OwnedAndWanted& mine, const Numbers& distinct,
                             Index indices, std::string& wrong, SourceLine line) {
  const auto n = static_cast<std::size_t>(c.size());
  const Index block = std::max<Index>(1, (indices + c.size() - 1) / c.size());
  const auto part_of = [&](Index index) { return static_cast<std::size_t>(index / block); };
  std::vector<Numbers> tell(n), positions(n), ask(n), answers(n);
  for (std::size_t k = 0; k < mine.owned.size(); ++k) {
    tell[part_of(mine.owned[k])].push_back(mine.owned[k]);
    positions[part_of(mine.owned[k])].push_back(static_cast<Index>(k));
  }
  for (std::size_t r = 0; r < n; ++r)
    tell[r].insert(tell[r].end(), positions[r].begin(), positions[r].end());
  for (const Index index : distinct) ask[part_of(index)].push_back(index);
  const Directory directory(all_to_all_numbers(c, tell, line), wrong);
  const std::vector<Numbers> asked = all_to_all_numbers(c, ask, line);
  for (std::size_t r = 0; r < n; ++r)
    for (const Index index : asked[r]) {
      const Place p = directory.find(index);
      answers[r].push_back(p.rank), answers[r].push_back(p.at);
    }
  const std::vector<Numbers> found = all_to_all_numbers(c, answers, line);
  std::vector<Place> places;
  std::vector<std::size_t> next(n, 0);
  for (const Index index : distinct) {
    const std::size_t r = part_of(index);
    places.push_back({found[r][next[r]], found[r][next[r] + 1]});
    next[r] += 2;
    if (places.back().rank < 0 && wrong.empty())
      wrong = "index " + std::to_string(index) + ", which rank " + std::to_string(c.rank()) +
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
  Index at, key, rank, number;  ///< number: of the rank's copies that this owner has to do with
};

}  // namespace

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
      of_rank[static_cast<std::size_t>(places[k].rank)].push_back(static_cast<Index>(k));
    Numbers slot(places.size());
    for (std::size_t r = 0; r < ranks(); ++r) {
      const auto at = [&](Index k) { return places[static_cast<std::size_t>(k)].at; };
      std::sort(of_rank[r].begin(), of_rank[r].end(),
                [&](Index a, Index b) { return at(a) < at(b); });
      for (std::size_t s = 0; s < of_rank[r].size(); ++s) {
        slot[static_cast<std::size_t>(of_rank[r][s])] = static_cast<Index>(s);
        if (!is_me(r)) ask[r].push_back(at(of_rank[r][s]));
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
    Numbers own;  // where this rank's copies of its own values lie
    for (std::size_t j = 0; j < which.size(); ++j) {
      const auto r = static_cast<std::size_t>(of_copy(j).rank);
      add_to(packed[r], static_cast<Index>(tell[r].size()) / 2, static_cast<Index>(j));
      tell[r].push_back(of_copy(j).at);
      tell[r].push_back(mine.keys.empty() ? first_key + static_cast<Index>(j) : mine.keys[j]);
      if (is_me(r)) own.push_back(static_cast<Index>(j));
    }
    for (std::size_t r = 0; r < ranks(); ++r)
      if (!is_me(r) && !tell[r].empty()) {
        plan.pulls_.peers.push_back(peer(r, tell[r].size() / 2, std::move(packed[r])));
        plan.pulls_.values += plan.pulls_.peers.back().count;
      }
    std::vector<Copy> copies;
    const std::vector<Numbers> told = all_to_all_numbers(c, tell, line);
    for (std::size_t r = 0; r < ranks(); ++r) {
      const std::size_t count = told[r].size() / 2;
      for (std::size_t k = 0; k < count; ++k)
        copies.push_back(
            {told[r][2 * k], told[r][2 * k + 1], static_cast<Index>(r), static_cast<Index>(k)});
      if (!is_me(r) && count > 0) plan.pulled_to_.peers.push_back(peer(r, count));
    }
    std::stable_sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
      return std::pair(a.at, a.key) < std::pair(b.at, b.key);
    });
    put_in_layers(copies, own);
  }
  void put_in_layers(const std::vector<Copy>& copies, const Numbers& own) {
    std::vector<Layer>& layers = plan.pulled_to_.layers;
    for (std::size_t k = 0, depth = 0; k < copies.size(); ++k) {
      const Copy& copy = copies[k];
      depth = k > 0 && copies[k - 1].at == copy.at ? depth + 1 : 0;
      if (depth == layers.size()) layers.push_back({{}, plan.pulled_to_.peers});
      Layer& l = layers[depth];
      if (copy.rank == c.rank()) {
        add_to(l.own, copy.at, own[static_cast<std::size_t>(copy.number)]);
        continue;
      }
      const auto from = std::find_if(l.peers.begin(), l.peers.end(),
                                     [&](const Peer& p) { return p.rank == copy.rank; });
      add_to(from->runs, copy.at, copy.number);
    }
  }
};

ExchangePlanPtr ExchangePlan::make(Communicator& c, const OwnedAndWanted& mine, SourceLine line) {
  std::string wrong = what_is_wrong(c, mine);
  agree_that_all_is_well(c, wrong, line);

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

  Numbers distinct, which(mine.wanted.size());  // copy j is of distinct[which[j]]
  for (const Index j : sorted_positions(mine.wanted)) {
    const Index index = mine.wanted[static_cast<std::size_t>(j)];
    if (distinct.empty() || distinct.back() != index) distinct.push_back(index);
    which[static_cast<std::size_t>(j)] = static_cast<Index>(distinct.size()) - 1;
  }
  const std::vector<Place> places = places_of(c, mine, distinct, indices, wrong, line);
  agree_that_all_is_well(c, wrong, line);

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
