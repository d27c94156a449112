// SPDX-License-Identifier: Apache-2.0
//
// Corners are whole numbers. Sides are parted where others meet them or pass a corner within half
// the grid, crossings rounded to the grid, which may make new ones, until nothing is parted any
// more (snap rounding: J. Hobby, Comput. Geom. 13 (1999) 199-214). What is left meets at ends only,
// so that a sweep tells exactly how often the outlines go round what is above and below each side.
#include "tessera/autodiff/error.h"
#include "tessera/data/outlines.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace tessera::data {
namespace {

using Whole = std::int64_t;
using Wide = __int128;
using Knot = std::array<Whole, 2>;

constexpr int kBits = 45;                       ///< of coordinates
constexpr std::size_t kMostPairs = 50'000'000;  ///< of sides that come near each other

struct Run {
  Knot from, to;
  int times = 1;
};

/// Twice the area of a b c, positive if it turns left.
Wide turn(const Knot& a, const Knot& b, const Knot& c) {
  return Wide(b[0] - a[0]) * (c[1] - a[1]) - Wide(b[1] - a[1]) * (c[0] - a[0]);
}

/// Whether p lies on the side a b, or no further from its inside than half the grid: else sides
/// that nearly coincide would be parted again and again, each time one step of the grid further on.
bool meets(const Knot& a, const Knot& b, const Knot& p, Wide turned) {
  const Wide x = b[0] - a[0], y = b[1] - a[1], square = x * x + y * y,
             along = x * (p[0] - a[0]) + y * (p[1] - a[1]);
  if (along <= 0 || along >= square) return false;
  const long double away = static_cast<long double>(turned);
  return turned == 0 || 4 * away * away <= static_cast<long double>(square);
}

SideTree tree_of(const std::vector<Run>& runs) {
  std::vector<Side> sides;
  sides.reserve(runs.size());
  for (const Run& r : runs)
    sides.push_back({{double(r.from[0]), double(r.from[1])}, {double(r.to[0]), double(r.to[1])}});
  return SideTree(std::move(sides));
}

Run run_of(const Side& s) {
  return {{Whole(s.from[0]), Whole(s.from[1])}, {Whole(s.to[0]), Whole(s.to[1])}};
}

/// Sides over the same two knots as one, that runs to the right (or up), with how often it does;
/// without those that cancel.
std::vector<Run> merged(std::vector<Run> runs) {
  for (Run& r : runs)
    if (r.to < r.from) std::swap(r.from, r.to), r.times = -r.times;
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  std::vector<Run> out;
  for (const Run& r : runs) {
    if (r.from == r.to) continue;
    if (!out.empty() && out.back().from == r.from && out.back().to == r.to)
      out.back().times += r.times;
    else {
      if (!out.empty() && out.back().times == 0) out.pop_back();
      out.push_back(r);
    }
  }
  if (!out.empty() && out.back().times == 0) out.pop_back();
  return out;
}

/// The crossing of the lines through a b and c d, to the nearest knot.
Knot crossing(const Knot& a, const Knot& b, const Knot& c, const Knot& d) {
  const long double t = static_cast<long double>(turn(c, d, a)) /
                        static_cast<long double>(turn(c, d, a) - turn(c, d, b));
  return {a[0] + std::llround(t * static_cast<long double>(b[0] - a[0])),
          a[1] + std::llround(t * static_cast<long double>(b[1] - a[1]))};
}

/// Whether c d lies clearly on one side of the line through a b, further off than `meets` reaches:
/// what most sides that come near each other are told apart by. Of coordinates below 2^46 a turn in
/// doubles is off by 2^-51 of its terms at most.
bool clear_of(const Place2& a, const Place2& b, const Place2& c, const Place2& d) {
  const double x = b[0] - a[0], y = b[1] - a[1];
  const double cx = x * (c[1] - a[1]), cy = y * (c[0] - a[0]), dx = x * (d[1] - a[1]),
               dy = y * (d[0] - a[0]);
  const double off = std::abs(x) + std::abs(y) +
                     0x1p-51 * (std::abs(cx) + std::abs(cy) + std::abs(dx) + std::abs(dy));
  return std::min(cx - cy, dx - dy) > off || std::max(cx - cy, dx - dy) < -off;
}

/// Parts sides where they meet; whether there was anything to part.
bool part(std::vector<Run>& runs, std::size_t& pairs) {
  // In the tree's own order, with the multiplicities again.
  const SideTree tree = tree_of(runs);
  std::vector<Run> ordered;
  ordered.reserve(runs.size());
  for (const Side& s : tree.sides()) {
    Run r = run_of(s);
    const auto at = std::lower_bound(runs.begin(), runs.end(), r, [](const Run& a, const Run& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    r.times = at->times;
    ordered.push_back(r);
  }
  std::vector<std::pair<std::size_t, Knot>> cuts;
  for (std::size_t n = 0; n < ordered.size(); ++n) {
    const Knot &a = ordered[n].from, &b = ordered[n].to;
    tree.in_box(
        {double(std::min(a[0], b[0])), double(std::min(a[1], b[1]))},
        {double(std::max(a[0], b[0])), double(std::max(a[1], b[1]))},
        [&](std::size_t m) {
          if (++pairs > kMostPairs)
            throw Error("[united] more than " + std::to_string(kMostPairs) +
                        " pairs of sides come near each other");
          const Side &one = tree.sides()[n], &other = tree.sides()[m];
          if (clear_of(one.from, one.to, other.from, other.to)) return;
          const Knot &c = ordered[m].from, &d = ordered[m].to;
          const Wide ac = turn(a, b, c), ad = turn(a, b, d), ca = turn(c, d, a), cb = turn(c, d, b);
          const auto cut = [&](std::size_t side, const Knot& at) {
            if (at != ordered[side].from && at != ordered[side].to) cuts.emplace_back(side, at);
          };
          bool met = false;
          const auto meet = [&](std::size_t side, const Knot& from, const Knot& to, const Knot& at,
                                Wide turned) {
            if (!meets(from, to, at, turned)) return;
            cut(side, at);
            met = true;
          };
          meet(n, a, b, c, ac), meet(n, a, b, d, ad);
          meet(m, c, d, a, ca), meet(m, c, d, b, cb);
          if (met || ac == 0 || ad == 0 || ca == 0 || cb == 0) return;
          if ((ac > 0) == (ad > 0) || (ca > 0) == (cb > 0)) return;
          const Knot x = crossing(a, b, c, d);
          cut(n, x);
          cut(m, x);
        },
        n + 1);
  }
  if (cuts.empty()) return false;
  std::sort(cuts.begin(), cuts.end());
  std::vector<Run> out;
  std::size_t next = 0;
  for (std::size_t n = 0; n < ordered.size(); ++n) {
    std::vector<Knot> knots{ordered[n].from};
    const std::size_t first = next;
    while (next < cuts.size() && cuts[next].first == n) ++next;
    for (std::size_t k = first; k < next; ++k) knots.push_back(cuts[k].second);
    knots.push_back(ordered[n].to);
    const Knot along{ordered[n].to[0] - ordered[n].from[0], ordered[n].to[1] - ordered[n].from[1]};
    std::sort(knots.begin() + 1, knots.end() - 1, [&](const Knot& p, const Knot& q) {
      return Wide(p[0] - q[0]) * along[0] + Wide(p[1] - q[1]) * along[1] < 0;
    });
    for (std::size_t k = 0; k + 1 < knots.size(); ++k)
      out.push_back({knots[k], knots[k + 1], ordered[n].times});
  }
  runs = merged(std::move(out));
  return true;
}

/// Sides that meet at ends only, as a sweep from left to right finds them, from below: each point
/// is an event, in the order of x and, at one x, of y, as if the plane leaned a little.
class Sweep {
 public:
  explicit Sweep(const std::vector<Run>& runs)
      : runs_(runs), above_(runs.size()), here_(Below{&runs}) {}

  /// How often each side has it wound about above itself.
  const std::vector<int>& above() {
    std::vector<std::size_t> ends(runs_.size());
    for (std::size_t n = 0; n < ends.size(); ++n) ends[n] = n;
    std::sort(ends.begin(), ends.end(),
              [&](std::size_t a, std::size_t b) { return runs_[a].to < runs_[b].to; });
    std::vector<Status::iterator> place(runs_.size());
    std::size_t end = 0;
    for (std::size_t first = 0, last = 0; first < runs_.size(); first = last) {
      const Knot& at = runs_[first].from;
      for (; end < ends.size() && !(at < runs_[ends[end]].to); ++end) here_.erase(place[ends[end]]);
      for (last = first; last < runs_.size() && runs_[last].from == at; ++last)
        place[last] = here_.insert(last).first;
      // Those of this point lie beside each other.
      auto lowest = place[first];
      while (lowest != here_.begin() && runs_[*std::prev(lowest)].from == at) --lowest;
      int below = lowest == here_.begin() ? 0 : above_[*std::prev(lowest)];
      for (auto side = lowest; side != here_.end() && runs_[*side].from == at; ++side)
        below = above_[*side] = below + runs_[*side].times;
    }
    return above_;
  }

 private:
  struct Below {
    const std::vector<Run>* runs;
    bool operator()(std::size_t a, std::size_t b) const {
      if (a == b) return false;
      const Run &p = (*runs)[a], &q = (*runs)[b];
      if (p.from == q.from) return turn(p.from, p.to, q.to) > 0;
      return p.from < q.from ? turn(p.from, p.to, q.from) > 0 : turn(q.from, q.to, p.from) < 0;
    }
  };
  using Status = std::set<std::size_t, Below>;

  const std::vector<Run>& runs_;
  std::vector<int> above_;
  Status here_;
};

/// Sides with what is wound about once or more on exactly one of their flanks, that on the left.
/// `any`: wound either way.
std::vector<Run> rim_of(std::vector<Run> runs, bool any, std::size_t& pairs) {
  runs = merged(std::move(runs));
  while (part(runs, pairs)) {
  }
  Sweep sweep(runs);
  const std::vector<int>& above = sweep.above();
  std::vector<Run> out;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const Run& r = runs[n];
    const int left = above[n], right = left - r.times;
    const bool in_left = any ? left != 0 : left > 0, in_right = any ? right != 0 : right > 0;
    if (in_left == in_right) continue;
    out.push_back(in_left ? Run{r.from, r.to, 1} : Run{r.to, r.from, 1});
  }
  return out;
}

bool is_convex(const std::vector<Knot>& c) {
  const std::size_t n = c.size();
  int turns = 0;  // of the direction along x
  for (std::size_t k = 0; k < n; ++k) {
    const Knot &a = c[k], &b = c[(k + 1) % n], &d = c[(k + 2) % n];
    if (!(turn(a, b, d) > 0)) return false;
    turns += (b[0] > a[0]) != (d[0] > b[0]);
  }
  return turns == 2;
}

}  // namespace

std::vector<Side> united(const std::vector<Outline>& outlines) {
  double most = 0;
  for (const Outline& o : outlines)
    for (const Place2& p : o)
      for (const double x : p) {
        if (!std::isfinite(x)) throw Error("[united] a corner is not finite");
        most = std::max(most, std::abs(x));
      }
  if (most == 0) return {};
  const double scale = std::ldexp(1, kBits - 1 - std::ilogb(most));
  std::vector<Run> all;
  std::size_t pairs = 0;
  for (const Outline& o : outlines) {
    std::vector<Knot> corners;
    for (const Place2& p : o) {
      const Knot k{std::llround(p[0] * scale), std::llround(p[1] * scale)};
      if (corners.empty() || corners.back() != k) corners.push_back(k);
    }
    while (corners.size() > 1 && corners.front() == corners.back()) corners.pop_back();
    if (corners.size() < 3) continue;
    Wide area = 0;
    for (std::size_t k = 1; k + 1 < corners.size(); ++k)
      area += turn(corners[0], corners[k], corners[k + 1]);
    if (area < 0) std::reverse(corners.begin(), corners.end());
    std::vector<Run> runs;
    for (std::size_t k = 0; k < corners.size(); ++k)
      runs.push_back({corners[k], corners[(k + 1) % corners.size()]});
    if (!is_convex(corners)) runs = rim_of(std::move(runs), true, pairs);
    all.insert(all.end(), runs.begin(), runs.end());
  }
  std::vector<Side> out;
  for (const Run& r : rim_of(std::move(all), false, pairs))
    out.push_back({{double(r.from[0]) / scale, double(r.from[1]) / scale},
                   {double(r.to[0]) / scale, double(r.to[1]) / scale}});
  return out;
}

}  // namespace tessera::data
