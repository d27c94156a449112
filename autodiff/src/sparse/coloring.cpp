// SPDX-License-Identifier: Apache-2.0
//
// Greedy colourings: each vertex in turn takes the smallest colour that the coloured ones around it
// allow. The order decides how many are needed; three are tried and the best kept: as given (best
// for bands), by falling degree, and, where that costs little, by how many colours are already
// forbidden (D. Brélaz, Comm. ACM 22 (1979) 251).
#include "tessera/autodiff/sparse.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tessera {
namespace {

using List = std::vector<Index>;
/// Calls its last argument with every colour that vertex v must not take.
using Forbid = std::function<void(Index v, const List& color, const std::function<void(Index)>&)>;

/// The smallest colour for v, with `mark[c] == stamp` where c is forbidden; how many are forbidden.
Index smallest(Index v, const Forbid& forbid, const List& color, List& mark, Index stamp,
               Index* forbidden = nullptr) {
  Index count = 0;
  forbid(v, color, [&](Index c) {
    if (c >= static_cast<Index>(mark.size())) mark.resize(static_cast<std::size_t>(c) + 1, 0);
    if (mark[static_cast<std::size_t>(c)] != stamp) ++count;
    mark[static_cast<std::size_t>(c)] = stamp;
  });
  if (forbidden) *forbidden = count;
  Index c = 0;
  while (c < static_cast<Index>(mark.size()) && mark[static_cast<std::size_t>(c)] == stamp) ++c;
  return c;
}

Coloring in_order(Index n, const List& order, const Forbid& forbid) {
  Coloring out{List(static_cast<std::size_t>(n), -1), 0};
  List mark;
  Index stamp = 0;
  for (const Index v : order) {
    const Index c = smallest(v, forbid, out.color, mark, ++stamp);
    out.color[static_cast<std::size_t>(v)] = c;
    out.count = std::max(out.count, c + 1);
  }
  return out;
}

/// The vertex with most forbidden colours next. `near` lists the vertices whose choice v's colour
/// may change.
Coloring by_saturation(Index n, const Forbid& forbid,
                       const std::function<void(Index, const std::function<void(Index)>&)>& near) {
  Coloring out{List(static_cast<std::size_t>(n), -1), 0};
  List mark, saturation(static_cast<std::size_t>(n), 0);
  std::vector<List> bucket(1, List(static_cast<std::size_t>(n)));  // may hold stale entries
  std::iota(bucket[0].rbegin(), bucket[0].rend(), 0);
  Index stamp = 0;
  for (Index left = n; left > 0;) {
    while (bucket.back().empty()) bucket.pop_back();
    const Index v = bucket.back().back();
    bucket.back().pop_back();
    if (out.color[static_cast<std::size_t>(v)] >= 0 ||
        saturation[static_cast<std::size_t>(v)] != static_cast<Index>(bucket.size()) - 1) {
      if (bucket.size() == 1 && bucket[0].empty()) break;
      continue;
    }
    const Index c = smallest(v, forbid, out.color, mark, ++stamp);
    out.color[static_cast<std::size_t>(v)] = c;
    out.count = std::max(out.count, c + 1);
    --left;
    near(v, [&](Index u) {
      if (out.color[static_cast<std::size_t>(u)] >= 0) return;
      Index now = 0;
      smallest(u, forbid, out.color, mark, ++stamp, &now);
      if (now <= saturation[static_cast<std::size_t>(u)]) return;
      saturation[static_cast<std::size_t>(u)] = now;
      if (static_cast<Index>(bucket.size()) <= now)
        bucket.resize(static_cast<std::size_t>(now) + 1);
      bucket[static_cast<std::size_t>(now)].push_back(u);
    });
  }
  return out;
}

Coloring best_of(Index n, const std::function<Index(Index)>& degree, const Forbid& forbid,
                 const std::function<void(Index, const std::function<void(Index)>&)>& near) {
  List order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  Coloring best = in_order(n, order, forbid);
  const auto keep = [&](Coloring c) {
    if (c.count < best.count) best = std::move(c);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return degree(a) > degree(b); });
  keep(in_order(n, order, forbid));
  // Saturation asks around every vertex again whenever one near it is coloured: as the square of
  // what is near.
  double work = 0;
  for (Index v = 0; v < n && work < 1e8; ++v) {
    double around = 0;
    near(v, [&](Index) { ++around; });
    work += around * around;
  }
  if (work < 1e8) keep(by_saturation(n, forbid, near));
  return best;
}

/// The lists of a compressed matrix: entry k of list i is index[begin[i] + k].
struct Lists {
  std::span<const Index> begin, index;
  std::span<const Index> operator[](Index i) const {
    return index.subspan(static_cast<std::size_t>(begin[static_cast<std::size_t>(i)]),
                         static_cast<std::size_t>(begin[static_cast<std::size_t>(i) + 1] -
                                                  begin[static_cast<std::size_t>(i)]));
  }
};

/// Vertices of one colour share no list: `of[v]` are the lists that hold v, `members[l]` the
/// vertices of list l.
Coloring color_apart(Index n, const Lists& of, const Lists& members) {
  const auto each = [=](Index v, const std::function<void(Index)>& visit) {
    for (const Index l : of[v])
      for (const Index u : members[l])
        if (u != v) visit(u);
  };
  const Forbid forbid = [=](Index v, const List& color, const std::function<void(Index)>& no) {
    each(v, [&](Index u) {
      if (color[static_cast<std::size_t>(u)] >= 0) no(color[static_cast<std::size_t>(u)]);
    });
  };
  return best_of(
      n, [=](Index v) { return static_cast<Index>(of[v].size()); }, forbid, each);
}

}  // namespace

Coloring color_columns(const CsrPattern& p) {
  const CsrPattern::ByColumns& t = p.by_columns();
  return color_apart(p.cols(), {t.begin, t.row}, {p.row_begin(), p.column()});
}
Coloring color_rows(const CsrPattern& p) {
  const CsrPattern::ByColumns& t = p.by_columns();
  return color_apart(p.rows(), {p.row_begin(), p.column()}, {t.begin, t.row});
}

// Gebremedhin, Manne & Pothen, algorithm 4.1: v differs from its neighbours; from the neighbours of
// neighbours that are not coloured yet, so that those can be; and from x in v - w - x - y where w
// and y have one colour.
Coloring color_star(const CsrPattern& p) {
  const Lists near{p.row_begin(), p.column()};
  const Forbid forbid = [=](Index v, const List& color, const std::function<void(Index)>& no) {
    const auto of = [&](Index u) { return color[static_cast<std::size_t>(u)]; };
    for (const Index w : near[v]) {
      if (w == v) continue;
      if (of(w) >= 0) no(of(w));
      for (const Index x : near[w]) {
        if (x == v || x == w || of(x) < 0) continue;
        if (of(w) < 0) {
          no(of(x));
          continue;
        }
        for (const Index y : near[x])
          if (y != w && y != x && of(y) == of(w)) {
            no(of(x));
            break;
          }
      }
    }
  };
  const auto around = [=](Index v, const std::function<void(Index)>& visit) {
    for (const Index w : near[v]) {
      visit(w);
      for (const Index x : near[w]) visit(x);
    }
  };
  return best_of(
      p.rows(), [=](Index v) { return static_cast<Index>(near[v].size()); }, forbid, around);
}

}  // namespace tessera
