// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/demanded_lines.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

/// Part of the axis in which h is as high as the least of: a length, and what grows from both ends.
struct Segment {
  double from, to;
  double most;  ///< the shortest of the cells asked for here
};

/// h between two points, linear.
struct Piece {
  double from, to, h_from, h_to;
  double count() const {
    const double rise = h_to - h_from;
    return std::abs(rise) < 1e-9 * h_from ? 2 * (to - from) / (h_from + h_to)
                                          : (to - from) / rise * std::log(h_to / h_from);
  }
  /// Where `n` cells from the beginning end.
  double after(double n) const {
    const double rise = h_to - h_from;
    if (std::abs(rise) < 1e-9 * h_from) return from + n * (h_from + h_to) / 2;
    const double slope = rise / (to - from);
    return from + h_from * std::expm1(slope * n) / slope;
  }
};

double count_of(const std::vector<Piece>& pieces) {
  double n = 0;
  for (const Piece& p : pieces) n += p.count();
  return n;
}

/// min(h, top) of pieces.
std::vector<Piece> cut(const std::vector<Piece>& pieces, double top) {
  std::vector<Piece> out;
  for (const Piece& p : pieces) {
    const double least = std::min(p.h_from, p.h_to), most = std::max(p.h_from, p.h_to);
    if (most <= top) {
      out.push_back(p);
    } else if (least >= top) {
      out.push_back({p.from, p.to, top, top});
    } else {
      const double at = p.from + (p.to - p.from) * (top - p.h_from) / (p.h_to - p.h_from);
      if (p.h_from < top) {
        out.push_back({p.from, at, p.h_from, top});
        out.push_back({at, p.to, top, top});
      } else {
        out.push_back({p.from, at, top, top});
        out.push_back({at, p.to, top, p.h_to});
      }
    }
  }
  return out;
}

/// The cells of one axis while they are found.
class Axis {
 public:
  Axis(std::vector<double> stations, std::vector<CellDemand> cells, double longest,
       const LineRules& rules, bool joined)
      : stations_(std::move(stations)),
        growth_(std::log(rules.ratio)),
        ratio_(rules.ratio),
        least_(rules.least),
        joined_(joined) {
    std::vector<double> ends;
    for (CellDemand& c : cells) {
      c.from = std::clamp(c.from, stations_.front(), stations_.back());
      c.to = std::clamp(c.to, stations_.front(), stations_.back());
      ends.push_back(c.from), ends.push_back(c.to);
    }
    // Ends that differ by rounding are one, and a line's place where they are near one.
    std::sort(ends.begin(), ends.end());
    const double near = rounding();
    points_ = stations_;
    for (const double x : ends) {
      const auto above = std::lower_bound(points_.begin(), points_.end(), x);
      if ((above == points_.end() || *above - x > near) &&
          (above == points_.begin() || x - *(above - 1) > near))
        points_.insert(above, x);
    }
    for (std::size_t k = 0; k + 1 < points_.size(); ++k)
      segments_.push_back({points_[k], points_[k + 1], longest});
    height_.assign(points_.size(), longest);
    for (const CellDemand& c : cells) lower(c.from, c.to, c.cell);
    for (std::size_t s = 0; s + 1 < stations_.size(); ++s)
      lower(stations_[s], stations_[s + 1], stations_[s + 1] - stations_[s]);
  }

  /// Cells between these are no longer than `cell`.
  void lower(double from, double to, double cell) {
    const std::size_t first = point_at(from), last = point_at(to);
    for (std::size_t p = first; p <= last; ++p) height_[p] = std::min(height_[p], cell);
    for (std::size_t s = first; s < last; ++s)
      segments_[s].most = std::min(segments_[s].most, cell);
  }

  /// h at all ends of segments, from what is asked there.
  void grade() {
    const std::size_t n = points_.size();
    for (std::size_t s = 0; s < segments_.size(); ++s)
      for (const std::size_t p : {s, s + 1}) height_[p] = std::min(height_[p], segments_[s].most);
    for (int pass = 0; pass < (joined_ ? 2 : 1); ++pass) {
      if (joined_) height_.front() = height_.back() = std::min(height_.front(), height_.back());
      for (std::size_t p = 1; p < n; ++p)
        height_[p] = std::min(height_[p], height_[p - 1] + growth_ * (points_[p] - points_[p - 1]));
      if (joined_) height_.front() = height_.back() = std::min(height_.front(), height_.back());
      for (std::size_t p = n - 1; p-- > 0;)
        height_[p] = std::min(height_[p], height_[p + 1] + growth_ * (points_[p + 1] - points_[p]));
    }
  }

  double height_at(double x) const {
    const std::size_t p = point_at(x);
    if (points_[p] == x || p + 1 == points_.size()) return height_[p];
    const std::size_t s = points_[p] > x ? p - 1 : p;
    return std::min({segments_[s].most, height_[s] + growth_ * (x - points_[s]),
                     height_[s + 1] + growth_ * (points_[s + 1] - x)});
  }

  /// All cells that h asks for, without those that rounding up adds.
  double least_count() const {
    double n = 0;
    for (std::size_t s = 0; s < segments_.size(); ++s) n += count_of(pieces_of(s));
    return n;
  }

  std::vector<double> lines() const {
    std::vector<double> out{stations_.front()};
    std::size_t s = 0;
    for (std::size_t k = 0; k + 1 < stations_.size(); ++k) {
      std::vector<Piece> pieces;
      for (; s < segments_.size() && segments_[s].from < stations_[k + 1]; ++s)
        for (const Piece& p : pieces_of(s)) pieces.push_back(p);
      fill(pieces, stations_[k], stations_[k + 1], out);
    }
    return out;
  }

  /// Lowers h at lines at which neighbours differ by more than the ratio; false: none do. `lines`
  /// are those of h as it is.
  bool smooth(const std::vector<double>& lines) {
    const double first = std::expm1(growth_) / growth_;  // the first cell that grows from h = 1
    bool any = false;
    const std::size_t n = lines.size() - 1;
    for (std::size_t i = joined_ ? 0 : 1; i < n; ++i) {
      const double before = i == 0 ? lines[n] - lines[n - 1] : lines[i] - lines[i - 1],
                   behind = lines[i + 1] - lines[i], small = std::min(before, behind),
                   large = std::max(before, behind);
      if (large <= small * ratio_ * (1 + 1e-6)) continue;
      const auto station = std::lower_bound(stations_.begin(), stations_.end(), lines[i]);
      if (station == stations_.end() || *station != lines[i]) continue;
      double& height = height_[point_at(lines[i])];
      const double top = std::min(small * ratio_ / first * (1 - 1e-6), 0.999 * height);
      if (top < least_) continue;
      height = top;
      any = true;
    }
    return any;
  }

 private:
  double rounding() const { return 1e-12 * (stations_.back() - stations_.front()); }

  /// The last point that is not above x by more than rounding.
  std::size_t point_at(double x) const {
    const auto above = std::upper_bound(points_.begin(), points_.end(), x + rounding());
    return above == points_.begin() ? 0 : static_cast<std::size_t>(above - points_.begin()) - 1;
  }

  std::vector<Piece> pieces_of(std::size_t s) const {
    const Segment& g = segments_[s];
    const double h0 = height_[s], h1 = height_[s + 1], length = g.to - g.from;
    // Rises to `top`, where the two slopes meet or the segment's own length holds, and falls.
    const double top = std::min(g.most, (h0 + h1 + growth_ * length) / 2);
    const double up = std::clamp((top - h0) / growth_, 0.0, length),
                 down = std::clamp((top - h1) / growth_, 0.0, length - up);
    std::vector<Piece> out;
    if (up > 0) out.push_back({g.from, g.from + up, h0, h0 + growth_ * up});
    if (length - down > up) out.push_back({g.from + up, g.to - down, top, top});
    if (down > 0) out.push_back({g.to - down, g.to, h1 + growth_ * down, h1});
    return out;
  }

  /// Lines between two places, and the second of them.
  void fill(const std::vector<Piece>& h, double from, double to, std::vector<double>& out) const {
    int n = std::max(1, static_cast<int>(std::ceil(count_of(h) - 1e-6)));
    if (n * least_ > to - from) n = std::max(1, static_cast<int>((to - from) / least_ + 1e-9));
    double below = (to - from) / n, above = below;
    for (const Piece& p : h) above = std::max({above, p.h_from, p.h_to});
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = (below + above) / 2;
      (count_of(cut(h, middle)) > n ? below : above) = middle;
    }
    const std::vector<Piece> pieces = cut(h, above);
    const double stretch = n / count_of(pieces);  // 1 to rounding, and where h asks for less than n
    std::size_t at = 0;
    double before = 0;
    for (int i = 1; i < n; ++i) {
      while (at + 1 < pieces.size() && (before + pieces[at].count()) * stretch < i)
        before += pieces[at++].count();
      out.push_back(pieces[at].after(i / stretch - before));
    }
    out.push_back(to);
  }

  std::vector<double> stations_, points_, height_;
  std::vector<Segment> segments_;
  double growth_, ratio_, least_;
  bool joined_;
};

/// Places that lines get, the heavier ones first; the others go to `dropped`.
std::vector<LineDemand> kept_lines(const AxisDemands& a, double near,
                                   std::vector<LineDemand>& dropped) {
  std::vector<LineDemand> wanted;
  for (const LineDemand& l : a.lines)
    if (l.at > a.low && l.at < a.high) wanted.push_back(l);
  std::sort(wanted.begin(), wanted.end(), [](const LineDemand& l, const LineDemand& m) {
    return std::tie(m.weight, l.at, l.owner) < std::tie(l.weight, m.at, m.owner);
  });
  std::vector<LineDemand> kept{{a.low, 0, "the lower face of the domain"},
                               {a.high, 0, "the upper face of the domain"}};
  for (const LineDemand& l : wanted) {
    const auto above = std::upper_bound(kept.begin(), kept.end(), l.at,
                                        [](double x, const LineDemand& m) { return x < m.at; });
    const double gap = std::min(l.at - (above - 1)->at, above->at - l.at);
    if (gap >= near)
      kept.insert(above, l);
    else if (gap > 1e-9 * (a.high - a.low))
      dropped.push_back(l);
  }
  return kept;
}

/// Cells of one length beside a line: as long as they may be there, and end before the next line.
void add_even(const EvenDemand& e, const Axis& axis, std::vector<LineDemand>& kept,
              std::vector<CellDemand>& cells) {
  const auto own =
      std::min_element(kept.begin(), kept.end(), [&](const LineDemand& l, const LineDemand& m) {
        return std::abs(l.at - e.at) < std::abs(m.at - e.at);
      });
  const double at = own->at;
  double cell = axis.height_at(at);
  if (own != kept.begin()) cell = std::min(cell, (at - (own - 1)->at) / 2);
  if (own + 1 != kept.end()) cell = std::min(cell, ((own + 1)->at - at) / 2);
  for (const int k : {-2, -1, 1, 2}) {
    const LineDemand l{at + k * cell, own->weight, e.owner};
    const auto above = std::upper_bound(kept.begin(), kept.end(), l.at,
                                        [](double x, const LineDemand& m) { return x < m.at; });
    const bool there = (above != kept.begin() && l.at - (above - 1)->at < 0.5 * cell) ||
                       (above != kept.end() && above->at - l.at < 0.5 * cell);
    if (!there && l.at > kept.front().at && l.at < kept.back().at) kept.insert(above, l);
  }
  cells.push_back({at - 2 * cell, at + 2 * cell, cell, "even cells about " + e.owner});
}

/// What is to blame for the length of the cell about x: the stretch, or the pair of lines, from
/// which h is lowest there.
Culprit culprit_at(double x, const std::vector<LineDemand>& kept, const AxisDemands& a,
                   const std::vector<CellDemand>& cells, double growth) {
  double least = a.cell;
  Culprit out{a.reason, {}};
  const auto is_least = [&](double low, double high, double cell) {
    const double h = cell + growth * std::max({0.0, low - x, x - high});
    const bool lower = h < least * (1 - 1e-9);
    if (lower) least = h;
    return lower;
  };
  for (const CellDemand& c : cells)
    if (is_least(c.from, c.to, c.cell)) out = {c.reason, {}};
  for (std::size_t k = 0; k + 1 < kept.size(); ++k) {
    const LineDemand &l = kept[k], &m = kept[k + 1];
    if (is_least(l.at, m.at, m.at - l.at))
      out = {fmt::format("lines of {} and {}, {:.4g} m apart", l.owner, m.owner, m.at - l.at),
             m.weight > l.weight ? l : m};
  }
  return out;
}

}  // namespace

DemandedLines demanded_lines(const AxisDemands& a, const LineRules& rules) {
  const bool cells_are =
      std::all_of(a.cells.begin(), a.cells.end(), [](const CellDemand& c) { return c.cell > 0; });
  if (!(a.high > a.low) || !std::isfinite(a.high - a.low) || !(a.cell > 0) || !cells_are ||
      !(rules.ratio > 1))
    throw Error(
        fmt::format("[demanded_lines] expected low < high, cells longer than 0 and a ratio "
                    "above 1, got {} to {} m, a cell of {} m and a ratio of {}",
                    a.low, a.high, a.cell, rules.ratio));
  DemandedLines out;
  std::vector<LineDemand> kept =
      kept_lines(a, std::max(rules.least * (1 - 1e-9), 1e-6 * a.cell), out.dropped);
  std::vector<CellDemand> cells = a.cells;
  std::vector<EvenDemand> even = a.even;
  std::sort(even.begin(), even.end(), [](const EvenDemand& e, const EvenDemand& g) {
    return std::tie(e.at, e.owner) < std::tie(g.at, g.owner);
  });
  const auto one_place = [&](const EvenDemand& e, const EvenDemand& g) {
    return g.at - e.at < 1e-6 * a.cell;
  };
  even.erase(std::unique(even.begin(), even.end(), one_place), even.end());
  for (const EvenDemand& e : even) {
    std::vector<double> places;
    for (const LineDemand& l : kept) places.push_back(l.at);
    Axis now(places, cells, a.cell, rules, a.joined);
    now.grade();
    add_even(e, now, kept, cells);
  }
  std::vector<double> places;
  for (const LineDemand& l : kept) places.push_back(l.at);
  Axis axis(std::move(places), cells, a.cell, rules, a.joined);
  axis.grade();
  if (const double n = axis.least_count(); n > static_cast<double>(rules.most_cells))
    throw Error(fmt::format("[demanded_lines] {:.3g} cells along one axis, for {}", n,
                            culprit_at(a.low, kept, a, cells, 0).reason));
  for (int round = 0; round < 1000; ++round) {
    out.lines = axis.lines();
    if (!axis.smooth(out.lines)) break;
    axis.grade();
  }
  const std::size_t n = out.lines.size() - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double cell = out.lines[i + 1] - out.lines[i];
    if (cell < (out.lines[out.smallest + 1] - out.lines[out.smallest]) * (1 - 1e-9))
      out.smallest = i;
    if (i == 0 && !a.joined) continue;
    const double before =
        i == 0 ? out.lines[n] - out.lines[n - 1] : out.lines[i] - out.lines[i - 1];
    out.ratio = std::max({out.ratio, cell / before, before / cell});
  }
  out.culprit = culprit_at((out.lines[out.smallest] + out.lines[out.smallest + 1]) / 2, kept, a,
                           cells, std::log(rules.ratio));
  return out;
}

AxisDemands without(AxisDemands demands, const Culprit& culprit) {
  std::erase_if(demands.cells, [&](const CellDemand& c) { return c.reason == culprit.reason; });
  std::erase_if(demands.lines,
                [&](const LineDemand& l) { return culprit.line && l.at == culprit.line->at; });
  return demands;
}

}  // namespace tessera::electromagnetics
