// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/layout.h"

#include "boxes.h"
#include "redistribution.h"
#include "tessera/parallel/part_sums.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tessera::parallel {
namespace {

std::string axis_names(const RankMesh& mesh) {
  std::string s;
  for (int a = 0; a < mesh.axes(); ++a) s += (a ? ", " : "") + mesh.axis(a).name;
  return s;
}

/// A layout with its mesh axes by number.
struct Placed {
  struct Axis {
    std::vector<int> over;
    PartsOfRanks begin;
    Index low, high;
  };
  std::vector<Axis> axes;
  std::vector<bool> cuts, partial;  ///< for each axis of the mesh
};

Placed placed(const RankMesh& mesh, const Shape& shape, const Layout& layout, SourceLine line) {
  const auto refuse = [&](const std::string& why) { fail("layout", why, line); };
  if (static_cast<int>(layout.axes.size()) != shape.size())
    refuse("it says how " + std::to_string(layout.axes.size()) + " axes lie, of a tensor " +
           to_string(shape));
  Placed p{{},
           std::vector<bool>(static_cast<std::size_t>(mesh.axes())),
           std::vector<bool>(static_cast<std::size_t>(mesh.axes()))};
  const auto take = [&](const std::string& name, std::vector<bool>& as) {
    const int a = mesh.index_of(name);
    if (a < 0) refuse("the mesh has no axis '" + name + "', it has " + axis_names(mesh));
    const auto at = static_cast<std::size_t>(a);
    if (p.cuts[at] || p.partial[at]) refuse("it uses the mesh's axis '" + name + "' twice");
    as[at] = true;
    return a;
  };
  for (int d = 0; d < shape.size(); ++d) {
    const AxisLayout& of = layout.axes[static_cast<std::size_t>(d)];
    Placed::Axis axis{{}, of.begin, of.low, of.high};
    int parts = 1;
    for (const std::string& name : of.over) {
      axis.over.push_back(take(name, p.cuts));
      parts *= mesh.axis(axis.over.back()).size;
    }
    if (axis.begin.empty()) axis.begin = deal_parts(shape[d], parts);
    if (axis.begin.size() != static_cast<std::size_t>(parts) + 1 || axis.begin[0] != 0 ||
        axis.begin.back() != shape[d] || !std::is_sorted(axis.begin.begin(), axis.begin.end()))
      refuse("axis " + std::to_string(d) + " of " + to_string(shape) + " in " +
             std::to_string(parts) + " parts begins at " + std::to_string(parts + 1) +
             " numbers from 0 to " + std::to_string(shape[d]) + " that do not fall, got " +
             std::to_string(axis.begin.size()));
    if (axis.low < 0 || axis.high < 0)
      refuse("axis " + std::to_string(d) + " overlaps by " + std::to_string(axis.low) + " and " +
             std::to_string(axis.high) + "; widths are not negative");
    p.axes.push_back(std::move(axis));
  }
  for (const std::string& name : layout.partial) take(name, p.partial);
  return p;
}

Box held_box(const RankMesh& mesh, const Placed& p, int rank, bool with_overlaps) {
  Box b;
  for (const Placed::Axis& axis : p.axes) {
    std::size_t part = 0;
    for (const int a : axis.over)
      part = part * static_cast<std::size_t>(mesh.axis(a).size) +
             static_cast<std::size_t>(mesh.place_of(rank, a));
    Index begin = axis.begin[part], end = axis.begin[part + 1];
    if (with_overlaps && begin < end) {
      begin = std::max<Index>(0, begin - axis.low);
      end = std::min(axis.begin.back(), end + axis.high);
    }
    b.begin.push_back(begin), b.end.push_back(end);
  }
  return b;
}

/// Boxes that ranks get, by the rank that sends them.
using Transfers = std::map<int, std::vector<Box>>;

/// What one layout means, for all ranks.
struct Held {
  Held(const RankMesh& m, const Shape& shape, const Layout& layout, SourceLine line)
      : mesh(m), p(placed(m, shape, layout, line)) {
    for (int r = 0; r < m.communicator().size(); ++r) {
      held.push_back(held_box(m, p, r, true));
      owned.push_back(held_box(m, p, r, false));
    }
  }
  /// The rank at the places of `at` along the axes that `picks` says, at those of `other` else.
  int rank_at(int at, int other, const std::vector<bool>& picks) const {
    int rank = 0;
    for (int a = 0; a < mesh.axes(); ++a)
      rank = rank * mesh.axis(a).size +
             mesh.place_of(picks[static_cast<std::size_t>(a)] ? at : other, a);
    return rank;
  }
  const RankMesh& mesh;
  Placed p;
  std::vector<Box> held, owned;
};

/// What rank `d` gets, its own included.
Transfers transfers_to(const Held& from, const Held& to, int d) {
  const RankMesh& mesh = from.mesh;
  const int ranks = mesh.communicator().size();
  std::vector<bool> summed, put;  // axes of the mesh: parts are added up, are made
  for (std::size_t a = 0; a < from.p.partial.size(); ++a) {
    summed.push_back(from.p.partial[a] && !to.p.partial[a]);
    put.push_back(to.p.partial[a] && !from.p.partial[a]);
  }
  // A part of a sum that is made has one rank: of those along an axis that cuts `from` the one that
  // owns it there, of others the first.
  const auto is_for = [&](int owner) {
    for (int a = 0; a < mesh.axes(); ++a) {
      const auto at = static_cast<std::size_t>(a);
      if (put[at] && mesh.place_of(d, a) != (from.p.cuts[at] ? mesh.place_of(owner, a) : 0))
        return false;
    }
    return true;
  };
  const auto in_row_of = [&](int rank, int other, const std::vector<bool>& but_for) {
    for (int a = 0; a < mesh.axes(); ++a)
      if (!but_for[static_cast<std::size_t>(a)] &&
          mesh.place_of(rank, a) != mesh.place_of(other, a))
        return false;
    return true;
  };
  const auto& want = to.held[static_cast<std::size_t>(d)];
  Transfers all;
  // For each way to choose places along the summed axes one holder of every element: the rank in
  // d's row holds what it holds, the rest comes from the owners.
  for (int first = 0; first < ranks; ++first) {
    if (!in_row_of(first, d, summed)) continue;
    std::vector<Box> rest{want};
    if (want.empty()) continue;
    // Where parts are put, d's own elements are those that it owns alone.
    const bool puts = std::find(put.begin(), put.end(), true) != put.end();
    const auto& near = (puts ? from.owned : from.held)[static_cast<std::size_t>(first)];
    if (const Box b = both(want, near); !b.empty() && is_for(first)) {
      all[first].push_back(b);
      rest = without(rest, b);
    }
    for (int owner = 0; owner < ranks; ++owner) {
      // One rank for each part of `from`: where it is the same along an axis, that in d's row.
      if (owner == first || !in_row_of(owner, first, from.p.cuts) || !is_for(owner)) continue;
      for (const Box& piece : rest)
        if (const Box b = both(piece, from.owned[static_cast<std::size_t>(owner)]); !b.empty())
          all[owner].push_back(b);
    }
  }
  return all;
}

Shape offset_in(const Box& b, const Box& in) {
  Shape s = b.begin;
  for (int d = 0; d < s.size(); ++d) s[d] -= in.begin[d];
  return s;
}
/// A box as it lies in an array that holds `of`.
BoxCopy between(const Box& b, const Box& from, const Box& to) {
  return {from.extents(), offset_in(b, from), to.extents(), offset_in(b, to), b.extents()};
}

/// Boxes that go to or come from a rank.
struct Pieces {
  int rank;
  std::vector<Box> boxes;
};
BoxMoves moves(int me, const Box& x, const Box& y, const std::vector<Pieces>& out,
               const std::vector<Pieces>& in) {
  BoxMoves m;
  m.x = x.extents(), m.y = y.extents();
  for (const Pieces& p : out) {
    if (p.rank == me) continue;
    BoxMoves::Message message{p.rank, 0, {}};
    for (const Box& b : p.boxes) {
      message.copies.push_back(between(b, x, b));
      message.copies.back().to_offset = message.elements;
      message.elements += b.extents().count();
    }
    m.out.push_back(std::move(message));
  }
  std::vector<Box> unwritten{y}, written;
  if (y.empty()) unwritten.clear();
  for (const Pieces& p : in) {
    BoxMoves::Source source{p.rank == me ? -1 : static_cast<int>(m.in.size()), {}};
    Index offset = 0;
    for (const Box& b : p.boxes) {
      const auto add = [&](const Box& part, bool adds) {
        BoxCopy copy = between(part, p.rank == me ? x : b, y);
        copy.from_offset = p.rank == me ? 0 : offset;
        copy.adds = adds;
        m.adds = m.adds || adds;
        source.copies.push_back(copy);
      };
      // What is written first sets, the others add.
      for (const Box& w : unwritten)
        if (const Box part = both(w, b); !part.empty()) add(part, false);
      for (const Box& w : written)
        if (const Box part = both(w, b); !part.empty()) add(part, true);
      for (const Box& w : unwritten)
        if (const Box part = both(w, b); !part.empty()) written.push_back(part);
      unwritten = without(unwritten, b);
      offset += b.extents().count();
    }
    if (p.rank != me) m.in.push_back({p.rank, offset, {}});
    m.sources.push_back(std::move(source));
  }
  for (const Box& w : unwritten) {
    Box local = w;
    for (int d = 0; d < w.begin.size(); ++d)
      local.begin[d] -= y.begin[d], local.end[d] -= y.begin[d];
    m.zeros.push_back(local);
  }
  return m;
}

std::shared_ptr<const BoxExchange> exchange_of(const Shape& shape, const Held& from,
                                               const Held& to) {
  Communicator& c = from.mesh.communicator();
  const int me = c.rank();
  std::vector<Pieces> out, in;
  Index sent = 0;
  for (int d = 0; d < c.size(); ++d)
    for (auto& [source, boxes] : transfers_to(from, to, d)) {
      if (source != d)
        for (const Box& b : boxes) sent += b.extents().count();
      if (source == me) out.push_back({d, boxes});
      if (d == me) in.push_back({source, std::move(boxes)});
    }
  const Box &x = from.held[static_cast<std::size_t>(me)],
            &y = to.held[static_cast<std::size_t>(me)];
  return std::make_shared<const BoxExchange>(
      BoxExchange{&c, shape, moves(me, x, y, out, in), moves(me, y, x, in, out), sent});
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool is_used(const Layout& layout, const std::string& name) {
  bool used = has(layout.partial, name);
  for (const AxisLayout& axis : layout.axes) used = used || has(axis.over, name);
  return used;
}

/// Without overlaps and without parts of sums but along `kept`; axes of the mesh `over` cut in turn
/// the longest axis of what a rank holds.
Layout dealt(const RankMesh& mesh, const Shape& shape, Layout layout,
             const std::vector<std::string>& over, const std::vector<std::string>& kept) {
  for (AxisLayout& axis : layout.axes) axis.low = axis.high = 0;
  Shape length = box_of(mesh, shape, layout, 0, false).extents();
  layout.partial = kept;
  for (const std::string& name : over) {
    const int d = static_cast<int>(std::max_element(length.begin(), length.end()) - length.begin());
    AxisLayout& axis = layout.axes[static_cast<std::size_t>(d)];
    if (axis.begin.empty()) {
      int before = 1;
      for (const std::string& a : axis.over) before *= mesh.axis(mesh.index_of(a)).size;
      axis.begin = deal_parts(shape[d], before);
    }
    const int parts = mesh.axis(mesh.index_of(name)).size;
    std::vector<Index> begin{0};
    for (std::size_t k = 0; k + 1 < axis.begin.size(); ++k) {
      const PartsOfRanks cuts = deal_parts(axis.begin[k + 1] - axis.begin[k], parts);
      for (std::size_t j = 1; j < cuts.size(); ++j) begin.push_back(axis.begin[k] + cuts[j]);
    }
    axis.begin = begin;
    axis.over.push_back(name);
    length[d] = (length[d] + parts - 1) / parts;
  }
  return layout;
}

/// Layouts to make sums in before they are dealt: none where there are no sums.
std::vector<Layout> between_sums(const RankMesh& mesh, const Shape& shape, const Layout& from,
                                 const Layout& to) {
  std::vector<std::string> kept, summed, all, of_to;
  for (int a = 0; a < mesh.axes(); ++a) {
    const std::string& name = mesh.axis(a).name;
    const bool is_summed = has(from.partial, name) && !has(to.partial, name);
    if (has(from.partial, name) && !is_summed) kept.push_back(name);
    if (is_summed) summed.push_back(name);
    if (is_summed || !is_used(from, name)) all.push_back(name);
    if (!is_used(to, name)) of_to.push_back(name);
  }
  if (summed.empty() || shape.size() == 0) return {};
  std::vector<Layout> ways{dealt(mesh, shape, from, summed, kept)};
  if (kept.empty() && to.partial.empty())
    for (const Layout& way : {dealt(mesh, shape, from, all, {}), dealt(mesh, shape, to, of_to, {})})
      ways.push_back(way);
  return ways;
}

}  // namespace

RankMesh::RankMesh(Communicator& c, std::vector<Axis> axes, SourceLine line)
    : communicator_(&c), axes_(std::move(axes)) {
  Index ranks = 1;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (axes_[a].size < 1)
      fail("rank_mesh",
           "axis '" + axes_[a].name + "' has " + std::to_string(axes_[a].size) + " ranks", line);
    if (index_of(axes_[a].name) != static_cast<int>(a))
      fail("rank_mesh", "two axes are called '" + axes_[a].name + "'", line);
    ranks *= axes_[a].size;
  }
  if (ranks != c.size())
    fail("rank_mesh",
         "its axes have " + std::to_string(ranks) + " ranks, the program has " +
             std::to_string(c.size()),
         line);
}
int RankMesh::index_of(const std::string& name) const {
  for (int a = 0; a < axes(); ++a)
    if (axis(a).name == name) return a;
  return -1;
}
int RankMesh::place_of(int rank, int axis_) const {
  for (int a = axes() - 1; a > axis_; --a) rank /= axis(a).size;
  return rank % axis(axis_).size;
}

Box box_of(const RankMesh& mesh, const Shape& shape, const Layout& layout, int rank,
           bool with_overlaps) {
  return held_box(mesh, placed(mesh, shape, layout, {}), rank, with_overlaps);
}

Layout cotangent_of(const RankMesh& mesh, const Layout& layout) {
  Layout of{layout.axes, {}};
  for (const AxisLayout& axis : layout.axes)
    if (axis.low > 0 || axis.high > 0)
      fail("cotangent_of",
           "cotangents of what overlaps are no layout; redistribute to it inside "
           "the function, from one without overlaps");
  for (int a = 0; a < mesh.axes(); ++a)
    if (!is_used(layout, mesh.axis(a).name)) of.partial.push_back(mesh.axis(a).name);
  return of;
}

RedistributionPtr redistribution(const RankMesh& mesh, const Shape& shape, const Layout& from,
                                 const Layout& to, SourceLine line) {
  const Held before(mesh, shape, from, line), after(mesh, shape, to, line);
  auto r = std::make_shared<Redistribution>();
  r->x = before.held[static_cast<std::size_t>(mesh.communicator().rank())].extents();
  if (from == to) return r;
  r->steps.push_back(exchange_of(shape, before, after));
  for (const Layout& way : between_sums(mesh, shape, from, to)) {
    const Held between(mesh, shape, way, line);
    const auto first = exchange_of(shape, before, between),
               second = exchange_of(shape, between, after);
    if (first->sent_by_all + second->sent_by_all < sent_by_all(*r)) r->steps = {first, second};
  }
  return r;
}
Index sent_by_all(const Redistribution& r) {
  Index sent = 0;
  for (const auto& step : r.steps) sent += step->sent_by_all;
  return sent;
}

}  // namespace tessera::parallel
