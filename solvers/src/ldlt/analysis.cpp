// SPDX-License-Identifier: Apache-2.0
//
// Elimination tree: J. Liu 1990, doi:10.1137/0611010. Joining of supernodes: C. Ashcraft, R. Grimes
// 1989, doi:10.1145/76909.76910. CHOLMOD (Y. Chen et al. 2008, doi:10.1145/1391989.1391995) allows
// more zeros; its bounds take a quarter more memory here, and no less time.
#include "ldlt/analysis.h"

#include "ldlt/order.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <limits>
#include <list>
#include <numeric>
#include <string>

namespace tessera::solvers::ldlt_detail {
namespace {

using Ints = std::vector<std::int32_t>;

/// Neighbours in A + A^T; mirror[e] is set on the way.
Neighbours neighbours(const CsrPattern& p, Ints& mirror) {
  const auto n = static_cast<std::int32_t>(p.rows());
  const CsrPattern::ByColumns& t = p.by_columns();
  mirror.assign(static_cast<std::size_t>(p.entries()), -1);
  Neighbours g;
  g.first.push_back(0);
  for (std::int32_t i = 0; i < n; ++i) {
    Index e = p.row_begin()[i], c = t.begin[i];
    const Index e_end = p.row_begin()[i + 1], c_end = t.begin[i + 1];
    while (e < e_end || c < c_end) {
      const Index je = e < e_end ? p.column()[e] : n, jc = c < c_end ? t.row[c] : n;
      const Index j = std::min(je, jc);
      if (je == jc) mirror[static_cast<std::size_t>(e)] = static_cast<std::int32_t>(t.entry[c]);
      if (j != i) g.next.push_back(static_cast<std::int32_t>(j));
      e += je == j, c += jc == j;
    }
    g.first.push_back(static_cast<std::int32_t>(g.next.size()));
  }
  return g;
}

Ints inverse_of(const Ints& order) {
  Ints place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int32_t>(k);
  return place;
}

Ints elimination_tree(const Neighbours& g, const Ints& order) {
  const Ints place = inverse_of(order);
  Ints parent(order.size(), -1), ancestor(order.size(), -1);
  for (std::int32_t k = 0; k < g.size(); ++k) {
    const std::int32_t v = order[k];
    for (std::int32_t e = g.first[v]; e < g.first[v + 1]; ++e)
      for (std::int32_t i = place[g.next[e]]; i != -1 && i < k;) {
        const std::int32_t up = ancestor[i];
        ancestor[i] = k;
        if (up == -1) parent[i] = k;
        i = up;
      }
  }
  return parent;
}

/// Children of each node, those of the roots (-1) last, as lists that follow each other.
struct Kin {
  Ints first, child;
  explicit Kin(const Ints& parent) : first(parent.size() + 2, 0), child(parent.size()) {
    const auto n = static_cast<std::int32_t>(parent.size());
    for (std::int32_t p : parent) ++first[(p < 0 ? n : p) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    Ints at(first.begin(), first.end() - 1);
    for (std::int32_t j = 0; j < n; ++j) child[at[parent[j] < 0 ? n : parent[j]]++] = j;
  }
};

/// Nodes of a forest, children first, in the order of their lists.
Ints postorder(const Kin& kin) {
  const auto n = static_cast<std::int32_t>(kin.child.size());
  Ints out, at(kin.first.begin(), kin.first.end() - 1), stack{n};
  out.reserve(kin.child.size());
  while (!stack.empty()) {
    const std::int32_t v = stack.back();
    if (at[v] < kin.first[v + 1]) {
      stack.push_back(kin.child[at[v]++]);
    } else {
      stack.pop_back();
      if (v < n) out.push_back(v);
    }
  }
  return out;
}

/// Rows of each column of L, the diagonal's included; columns in postorder.
Ints column_counts(const Neighbours& g, const Ints& order, const Ints& parent) {
  const Ints place = inverse_of(order);
  Ints count(order.size(), 1), mark(order.size(), -1);
  for (std::int32_t k = 0; k < g.size(); ++k) {
    mark[k] = k;
    const std::int32_t v = order[k];
    for (std::int32_t e = g.first[v]; e < g.first[v + 1]; ++e)
      for (std::int32_t i = place[g.next[e]]; i < k && mark[i] != k; i = parent[i])
        mark[i] = k, ++count[i];
  }
  return count;
}

/// Supernodes: columns that follow each other, then those joined.
struct Supernodes {
  struct One {
    Ints columns;         ///< rising
    std::int32_t parent;  ///< of the supernodes as first found
    std::int32_t below;
    double zeros = 0;
    std::int32_t joined = -1;  ///< to that one
  };
  std::vector<One> all;
};

Supernodes find_supernodes(const Ints& parent, const Ints& count) {
  const auto n = static_cast<std::int32_t>(parent.size());
  Supernodes s;
  Ints of(parent.size());
  for (std::int32_t j = 0; j < n; ++j) {
    if (j == 0 || parent[j - 1] != j || count[j - 1] != count[j] + 1)
      s.all.push_back({{}, -1, 0, 0, -1});
    s.all.back().columns.push_back(j);
    s.all.back().below = count[j] - 1;
    of[j] = static_cast<std::int32_t>(s.all.size()) - 1;
  }
  for (auto& one : s.all) {
    const std::int32_t up = parent[one.columns.back()];
    one.parent = up < 0 ? -1 : of[up];
  }
  return s;
}

/// Whether a front of `pivots` columns of which so many entries are zeros is better than two.
bool worth_joining(double pivots, double below, double zeros) {
  const double share = zeros / (pivots * (pivots + 1) / 2 + pivots * below);
  return pivots <= 2 || (pivots <= 16 && share < 0.2) || (pivots <= 48 && share < 0.08) ||
         share < 0.04;
}

void join(Supernodes& s) {
  Ints parents;
  for (const auto& one : s.all) parents.push_back(one.parent);
  const Kin kin(parents);
  for (std::size_t p = 0; p < s.all.size(); ++p) {
    auto& up = s.all[p];
    Ints below(kin.child.begin() + kin.first[p], kin.child.begin() + kin.first[p + 1]);
    // The child that reaches most of the parent first.
    std::stable_sort(below.begin(), below.end(), [&](std::int32_t a, std::int32_t b) {
      return s.all[a].below > s.all[b].below;
    });
    for (const std::int32_t c : below) {
      auto& one = s.all[c];
      const auto mine = static_cast<double>(one.columns.size()),
                 theirs = static_cast<double>(up.columns.size());
      const double zeros = one.zeros + up.zeros + mine * (theirs + up.below - one.below);
      if (!worth_joining(mine + theirs, up.below, zeros)) continue;
      one.joined = static_cast<std::int32_t>(p);
      up.zeros = zeros;
      up.columns.insert(up.columns.begin(), one.columns.begin(), one.columns.end());
      one.columns.clear();
    }
  }
}

/// First fit in a memory that grows as needed.
class Plan {
 public:
  Index take(Index size) {
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->size >= size) {
        const Index at = it->at;
        it->at += size, it->size -= size;
        if (it->size == 0) free_.erase(it);
        return at;
      }
    if (!free_.empty() && free_.back().at + free_.back().size == size_) {
      const Index at = free_.back().at;
      free_.pop_back();
      size_ = at + size;
      return at;
    }
    size_ += size;
    return size_ - size;
  }
  void give(Index at, Index size) {
    auto it = free_.begin();
    while (it != free_.end() && it->at < at) ++it;
    it = free_.insert(it, {at, size});
    if (const auto after = std::next(it); after != free_.end() && it->at + it->size == after->at) {
      it->size += after->size;
      free_.erase(after);
    }
    if (it != free_.begin())
      if (const auto before = std::prev(it); before->at + before->size == it->at) {
        before->size += it->size;
        free_.erase(it);
      }
  }
  Index size() const { return size_; }

 private:
  struct Free {
    Index at, size;
  };
  std::list<Free> free_;
  Index size_ = 0;
};

/// Fused steps of one front.
double steps_of(double pivots, double below) {
  const double f = pivots + below;
  return (f * f * f - below * below * below) / 6;
}

}  // namespace

Analysis::Analysis(CsrPatternPtr given) : pattern(std::move(given)) {
  const CsrPattern& p = *pattern;
  if (p.rows() > std::numeric_limits<std::int32_t>::max() / 2 ||
      p.entries() > std::numeric_limits<std::int32_t>::max() / 2)
    throw Error("[ldlt] a matrix of " + std::to_string(p.rows()) + " rows and " +
                std::to_string(p.entries()) + " entries is larger than it numbers");
  n = static_cast<std::int32_t>(p.rows());
  const Neighbours g = neighbours(p, mirror);
  order = fill_reducing_order(g);
  make_fronts(g);
  find_rows(g);
  find_places();
  place_entries();
  share_work();
}

/// Columns in postorder of their tree, then of the tree of supernodes.
void Analysis::make_fronts(const Neighbours& g) {
  Ints parent = elimination_tree(g, order);
  const auto reorder = [&](const Ints& by) {
    Ints next(order.size());
    for (std::size_t k = 0; k < by.size(); ++k) next[k] = order[by[k]];
    order = std::move(next);
  };
  reorder(postorder(Kin(parent)));
  parent = elimination_tree(g, order);
  Supernodes s = find_supernodes(parent, column_counts(g, order, parent));
  join(s);

  // The tree of those that are left, children in falling order of what they need more than what
  // they leave (J. Liu 1986), which keeps the memory of left-overs small.
  const auto supernodes = static_cast<std::int32_t>(s.all.size());
  const auto holder = [&](std::int32_t k) {
    while (k >= 0 && s.all[k].joined >= 0) k = s.all[k].joined;
    return k;
  };
  Ints up(s.all.size(), -1);
  for (std::int32_t k = 0; k < supernodes; ++k) up[k] = holder(s.all[k].parent);
  Kin kin(up);
  std::vector<double> need(s.all.size(), 0), leave(s.all.size(), 0);
  for (std::int32_t k = 0; k <= supernodes; ++k) {
    if (k < supernodes && s.all[k].joined >= 0) continue;
    const auto begin = kin.child.begin() + kin.first[k], end = kin.child.begin() + kin.first[k + 1];
    std::stable_sort(begin, end, [&](std::int32_t a, std::int32_t b) {
      return need[a] - leave[a] > need[b] - leave[b];
    });
    if (k == supernodes) break;
    double held = 0, most = 0;
    for (auto c = begin; c != end; ++c) most = std::max(most, held + need[*c]), held += leave[*c];
    leave[k] = static_cast<double>(s.all[k].below) * s.all[k].below;
    need[k] = std::max(most, held + leave[k]);
  }
  Ints columns, number(s.all.size(), -1);
  for (const std::int32_t k : postorder(kin)) {
    if (s.all[k].joined >= 0) continue;
    number[k] = static_cast<std::int32_t>(fronts.size());
    fronts.push_back({.first = static_cast<std::int32_t>(columns.size()),
                      .pivots = static_cast<std::int32_t>(s.all[k].columns.size()),
                      .below = s.all[k].below});
    columns.insert(columns.end(), s.all[k].columns.begin(), s.all[k].columns.end());
  }
  for (std::int32_t k = 0; k < supernodes; ++k)
    if (number[k] >= 0 && up[k] >= 0) fronts[number[k]].parent = number[up[k]];
  reorder(columns);

  Ints parents;
  for (const Front& f : fronts) parents.push_back(f.parent);
  const Kin tree(parents);
  children.assign(tree.child.begin(), tree.child.end());
  for (std::size_t k = 0; k < fronts.size(); ++k) {
    fronts[k].first_child = tree.first[k];
    fronts[k].children = tree.first[k + 1] - tree.first[k];
  }
}

/// Rows of each front: neighbours of its pivots and rows of its children, beyond its pivots.
void Analysis::find_rows(const Neighbours& g) {
  const Ints at = inverse_of(order);
  Ints mark(static_cast<std::size_t>(n), -1);
  for (std::size_t k = 0; k < fronts.size(); ++k) {
    Front& f = fronts[k];
    const std::int32_t end = f.first + f.pivots, stamp = static_cast<std::int32_t>(k);
    Ints mine;
    const auto reach = [&](std::int32_t row) {
      if (row < end || mark[row] == stamp) return;
      mark[row] = stamp;
      mine.push_back(row);
    };
    for (std::int32_t j = f.first; j < end; ++j)
      for (std::int32_t e = g.first[order[j]]; e < g.first[order[j] + 1]; ++e) reach(at[g.next[e]]);
    for (std::int32_t c = 0; c < f.children; ++c)
      for (const std::int32_t row : rows_of(fronts[children[f.first_child + c]])) reach(row);
    std::sort(mine.begin(), mine.end());
    f.rows = static_cast<Index>(rows.size());
    f.below = static_cast<std::int32_t>(mine.size());
    rows.insert(rows.end(), mine.begin(), mine.end());
    steps += steps_of(f.pivots, f.below);
    nonzeros += 0.5 * f.pivots * (f.pivots + 1.0) + static_cast<double>(f.pivots) * f.below;
  }
}

/// Where the rows of fronts stand in the parents.
void Analysis::find_places() {
  place.resize(rows.size());
  for (Front& f : fronts) {
    if (f.parent < 0) continue;
    const Front& to = fronts[f.parent];
    const auto theirs = rows_of(to);
    auto found = theirs.begin();
    for (std::int32_t k = 0; k < f.below; ++k) {
      const std::int32_t row = rows[f.rows + k];
      if (row < to.first + to.pivots) {
        place[f.rows + k] = row - to.first;
        f.into = k + 1;
      } else {
        found = std::lower_bound(found, theirs.end(), row);
        place[f.rows + k] = to.pivots + static_cast<std::int32_t>(found - theirs.begin());
      }
    }
  }
}

/// Entries of the lower triangle by fronts.
void Analysis::place_entries() {
  const CsrPattern& p = *pattern;
  const Ints at = inverse_of(order);
  Ints front_of(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < fronts.size(); ++k)
    std::fill_n(front_of.begin() + fronts[k].first, fronts[k].pivots, static_cast<std::int32_t>(k));
  std::vector<Index> count(fronts.size() + 1, 0);
  struct Entry {
    std::int32_t entry, row, column, front;
  };
  std::vector<Entry> found;
  diagonal.assign(static_cast<std::size_t>(n), -1);
  for (Index i = 0; i < p.rows(); ++i)
    for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e) {
      std::int32_t row = at[i], column = at[p.column()[e]];
      if (row == column) diagonal[row] = static_cast<std::int32_t>(e);
      if (row < column) {
        if (mirror[e] >= 0) continue;
        std::swap(row, column);
      }
      const Front& f = fronts[front_of[column]];
      std::int32_t within = row - f.first;
      if (within >= f.pivots) {
        const auto mine = rows_of(f);
        within = f.pivots + static_cast<std::int32_t>(
                                std::lower_bound(mine.begin(), mine.end(), row) - mine.begin());
      }
      found.push_back({static_cast<std::int32_t>(e), within, column - f.first, front_of[column]});
      ++count[front_of[column] + 1];
    }
  std::partial_sum(count.begin(), count.end(), count.begin());
  entry_begin = count;
  entries.resize(found.size()), entry_row.resize(found.size()), entry_column.resize(found.size());
  for (const Entry& e : found) {
    const auto to = static_cast<std::size_t>(count[e.front]++);
    entries[to] = e.entry, entry_row[to] = e.row, entry_column[to] = e.column;
  }
}

/// What is below the top, in runs of subtrees that follow each other.
void Analysis::share_work() {
  constexpr double kTop = 1.0 / 12, kLeast = 1.0 / 48;
  std::vector<double> work(fronts.size(), 0);
  for (std::size_t k = 0; k < fronts.size(); ++k) {
    // Assembly and the fixed cost of a front count as steps, too.
    const double f = fronts[k].pivots + fronts[k].below;
    work[k] += steps_of(fronts[k].pivots, fronts[k].below) + 2 * f * f + 1000;
    if (fronts[k].parent >= 0) work[fronts[k].parent] += work[k];
  }
  double all = 0;
  for (std::size_t k = 0; k < fronts.size(); ++k)
    if (fronts[k].parent < 0) all += work[k];
  is_root.assign(fronts.size(), 0);
  std::int32_t begin = 0;
  double gathered = 0;
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(fronts.size()); ++k) {
    const auto in_top = [&](std::int32_t q) { return work[q] > kTop * all; };
    if (in_top(k)) {
      if (begin < k) tasks.push_back({begin, k});
      begin = k + 1, gathered = 0;
      top.push_back(k);
    } else if (fronts[k].parent < 0 || in_top(fronts[k].parent)) {
      is_root[k] = 1;
      gathered += work[k];
      if (gathered >= kLeast * all) {
        tasks.push_back({begin, k + 1});
        begin = k + 1, gathered = 0;
      }
    }
  }
  if (begin < static_cast<std::int32_t>(fronts.size()))
    tasks.push_back({begin, static_cast<std::int32_t>(fronts.size())});
}

const Storage& Analysis::storage(Index block) const {
  const std::size_t which = block == 4 ? 0 : block == 8 ? 1 : 2;
  const std::lock_guard lock(mutex_);
  if (storage_[which]) return *storage_[which];
  auto s = std::make_unique<Storage>();
  const auto wide = [block](Index m) { return (m + block - 1) / block * block; };
  s->panel.push_back(0);
  s->left_over.assign(fronts.size(), 0);
  for (const Front& f : fronts) {
    const Index size = (wide(f.pivots) + wide(f.below)) * f.pivots;
    s->panel_size = std::max(s->panel_size, size);
    s->column = std::max(s->column, wide(f.pivots) + wide(f.below));
    s->panel.push_back(s->panel.back() + size);
  }
  s->entry_at.resize(entries.size());
  for (std::size_t k = 0; k < fronts.size(); ++k) {
    const Front& f = fronts[k];
    const Index gap = wide(f.pivots) - f.pivots, stride = wide(f.pivots) + wide(f.below);
    if (stride * f.pivots > std::numeric_limits<std::uint32_t>::max())
      throw Error("[ldlt] a front of " + std::to_string(f.pivots + f.below) +
                  " rows is larger than it numbers");
    for (Index e = entry_begin[k]; e < entry_begin[k + 1]; ++e)
      s->entry_at[e] = static_cast<std::uint32_t>(entry_column[e] * stride + entry_row[e] +
                                                  (entry_row[e] >= f.pivots ? gap : 0));
  }
  // A square, and a column of what has grown.
  const auto size_of = [&](const Front& f) { return wide(f.below) * (f.below + 1); };
  Plan of_top;
  const auto run = [&](std::int32_t k, Plan& mine, bool in_top) {
    const Front& f = fronts[k];
    Plan& plan = in_top || is_root[k] ? of_top : mine;
    if (f.below) s->left_over[k] = plan.take(size_of(f));
    for (std::int32_t c = 0; c < f.children; ++c) {
      const std::int32_t child = children[f.first_child + c];
      if (fronts[child].below)
        (in_top ? of_top : mine).give(s->left_over[child], size_of(fronts[child]));
    }
  };
  for (const Subtrees& t : tasks) {
    Plan mine;
    for (std::int32_t k = t.begin; k < t.end; ++k) run(k, mine, false);
    s->subtrees = std::max(s->subtrees, mine.size());
  }
  for (const std::int32_t k : top) run(k, of_top, true);
  s->top = of_top.size();
  storage_[which] = std::move(s);
  return *storage_[which];
}

std::shared_ptr<const Analysis> analysis_of(const CsrPatternPtr& pattern) {
  constexpr std::size_t most = 8;
  using Kept = std::list<std::shared_ptr<const Analysis>>;
  static std::mutex mutex;
  static auto* const kept = new Kept;  // the one used last first
  const auto find = [&]() -> std::shared_ptr<const Analysis> {
    for (const bool same_pointer : {true, false})
      for (auto it = kept->begin(); it != kept->end(); ++it)
        if (same_pointer ? (*it)->pattern == pattern : *(*it)->pattern == *pattern) {
          kept->splice(kept->begin(), *kept, it);
          return kept->front();
        }
    return nullptr;
  };
  const std::lock_guard lock(mutex);
  if (auto found = find()) return found;
  kept->push_front(std::make_shared<const Analysis>(pattern));
  if (kept->size() > most) kept->pop_back();
  return kept->front();
}

}  // namespace tessera::solvers::ldlt_detail
