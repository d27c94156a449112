// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/scene_demands.h"

#include "geometry/scene_faces.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

using namespace detail;

constexpr double kMetalEps = 1e4;   ///< |eps| above it: the inside is not resolved
constexpr double kStrip = 3;        ///< how much wider than thick a strip of metal is
constexpr double kNear = 1e-6;      ///< of the longest cell: files keep coordinates to 1e-7
constexpr double kMostLooks = 2e8;  ///< of bodies at points, in all

/// |n|, 1 where the medium has no number at that frequency.
double index_at(const Medium& medium, double f_hz) {
  double n = 1;
  for (int axis = 0; axis < 3; ++axis) try {
      n = std::max(n, std::abs(refractive_index(medium, axis, f_hz)));
    } catch (const Error&) {  // exactly on a pole
    }
  return n;
}

/// A straight line along an axis: its two other coordinates, in cyclic order.
using Through = std::array<double, 2>;

/// One axis of the scene.
class Look {
 public:
  Look(const SceneOrder& scene, const std::vector<Medium>& media, const SceneFaces& found,
       const Bounds& domain, const SceneDemandOptions& options, int axis, std::size_t one_of,
       double near)
      : scene_(scene),
        options_(options),
        domain_(domain),
        axis_(axis),
        one_of_(one_of),
        near_(near) {
    for (const Medium& m : media) metal_.push_back(is_metal(m, options.frequencies_hz));
    for (const Structure& s : scene.scene().structures)
      for (const double thickness : sides(s.shape.bounds()))
        if (thickness == 0 && metal_[static_cast<std::size_t>(s.medium)]) sheets_.push_back(&s);
    for (const BodyFace& f : found.faces)
      if (f.axis == axis) faces_.push_back(&f);
    std::stable_sort(faces_.begin(), faces_.end(),
                     [](const BodyFace* a, const BodyFace* b) { return a->at < b->at; });
  }

  void add_lines(AxisDemands& to) const {
    for (const BodyFace* f : faces_)
      if (f->flat)
        to.lines.push_back(
            {f->at, metal_of(f->structure) ? metal_line : body_line, name(f->structure)});
  }

  void add_thin(AxisDemands& to, std::vector<SceneDemands::Gap>& gaps) const {
    std::set<Through> seen;
    for (std::size_t n = 0; n < faces_.size(); n += one_of_) {
      const BodyFace* f = faces_[n];
      const auto [u, v] = others();
      for (const auto& [a, b] :
           {std::pair(0.5, 0.5), {0.25, 0.25}, {0.25, 0.75}, {0.75, 0.25}, {0.75, 0.75}})
        seen.insert({between(f->extent.low[u], f->extent.high[u], a),
                     between(f->extent.low[v], f->extent.high[v], b)});
    }
    for (const Through& t : seen) along(t, to, gaps);
    const auto by_place = [](const CellDemand& a, const CellDemand& b) {
      return std::tie(a.from, a.to, a.cell, a.reason) < std::tie(b.from, b.to, b.cell, b.reason);
    };
    std::sort(to.cells.begin(), to.cells.end(), by_place);
    const auto alike = [](const CellDemand& a, const CellDemand& b) {
      return a.from == b.from && a.to == b.to && a.cell == b.cell;
    };
    to.cells.erase(std::unique(to.cells.begin(), to.cells.end(), alike), to.cells.end());
  }

  /// At an edge of metal that another conductor is near, fields change over its distance.
  void add_edges(AxisDemands& to, const std::vector<Look>& looks) const {
    const auto a = static_cast<std::size_t>(axis_);
    const auto [u, v] = others();
    for (std::size_t n = 0; n < faces_.size(); n += one_of_) {
      const BodyFace* f = faces_[n];
      if (!f->flat || !metal_of(f->structure)) continue;
      const Bounds& all = scene_.scene().structures[f->structure].shape.bounds();
      const double step =
          1e-6 * std::min(all.high[a] - all.low[a], domain_.high[a] - domain_.low[a]);
      Distance least;
      for (const auto& [x, y] : kPlaces) {
        Point p;
        p[u] = between(f->extent.low[u], f->extent.high[u], x);
        p[v] = between(f->extent.low[v], f->extent.high[v], y);
        const Line here = line({p[u], p[v]});
        const bool below = kind(here, f->at - step) < 0, above = kind(here, f->at + step) < 0;
        if (below == above) continue;
        p[a] = f->at + (above ? step : -step);
        for (const std::size_t other : {u, v})
          if (domain_.high[other] > domain_.low[other])
            if (const Distance d = looks[other].nearest_metal(p); d.metres < least.metres)
              least = d;
      }
      if (least.metres < to.cell)
        to.cells.push_back({f->at - least.metres, f->at + least.metres, least.metres,
                            fmt::format("the edge of {} near {}", name(f->structure), least.who)});
    }
  }

 private:
  struct Distance {
    double metres = INFINITY;
    std::string who = {};
  };
  static constexpr std::array<std::array<double, 2>, 5> kPlaces{
      {{0.5, 0.5}, {0.25, 0.25}, {0.25, 0.75}, {0.75, 0.25}, {0.75, 0.75}}};

  /// From the metal at p to the next along the axis, through what is open.
  Distance nearest_metal(const Point& p) const {
    const auto [u, v] = others();
    const Trace found = trace({p[u], p[v]});
    const auto& [s, inside, shut] = found;
    const std::size_t n = s.size() - 1;
    const double at = p[static_cast<std::size_t>(axis_)];
    std::size_t low = 0;
    while (low < n && s[low + 1].at <= at) ++low;
    std::size_t high = s[low].at < at && low < n ? low + 1 : low;
    while (high < n && inside[high] < 0) ++high;
    while (low > 0 && inside[low - 1] < 0) --low;
    Distance out;
    const auto consider = [&, &s = s](std::size_t end, std::size_t from) {
      const double d = std::abs(s[end].at - s[from].at);
      if (d < out.metres) out = {d, s[end].who};
    };
    std::size_t end = high + 1;
    while (end < n && !shut[end]) ++end;
    if (high < n && end <= n && shut[end]) consider(end, high);
    if (low > 0) {
      end = low - 1;
      while (end > 0 && !shut[end]) --end;
      if (shut[end]) consider(end, low);
    }
    return out;
  }

  static std::array<double, 3> sides(const Bounds& b) {
    return {b.high[0] - b.low[0], b.high[1] - b.low[1], b.high[2] - b.low[2]};
  }
  static double between(double low, double high, double t) { return low + t * (high - low); }
  std::pair<std::size_t, std::size_t> others() const {
    return {static_cast<std::size_t>((axis_ + 1) % 3), static_cast<std::size_t>((axis_ + 2) % 3)};
  }
  bool metal_of(std::size_t structure) const {
    return metal_[static_cast<std::size_t>(scene_.scene().structures[structure].medium)];
  }
  std::string name(std::size_t structure) const {
    const std::string& given = scene_.scene().structures[structure].name;
    return given.empty() ? fmt::format("structure {}", structure) : "'" + given + "'";
  }
  Point point(const Through& t, double at) const {
    Point p;
    p[static_cast<std::size_t>(axis_)] = at;
    const auto [u, v] = others();
    p[u] = t[0], p[v] = t[1];
    return p;
  }
  /// What a straight line along the axis may meet.
  struct Line {
    Through t;
    std::vector<const Structure*> bodies;  ///< from the top down
    std::vector<const Structure*> sheets;
  };
  Line line(const Through& t) const {
    Line out{t, {}, {}};
    const auto [u, v] = others();
    const auto passes = [&, u = u, v = v](const Bounds& b) {
      return t[0] >= b.low[u] && t[0] <= b.high[u] && t[1] >= b.low[v] && t[1] <= b.high[v];
    };
    const auto& order = scene_.from_top();
    for (std::size_t k = 0; k < order.size(); ++k)
      if (passes(scene_.bounds_from_top()[k]))
        out.bodies.push_back(&scene_.scene().structures[order[k]]);
    for (const Structure* s : sheets_)
      if (passes(s->shape.bounds())) out.sheets.push_back(s);
    return out;
  }
  bool on_sheet(const Line& l, double at, double near = 0) const {
    const auto a = static_cast<std::size_t>(axis_);
    return std::any_of(l.sheets.begin(), l.sheets.end(), [&](const Structure* s) {
      return at >= s->shape.bounds().low[a] - near && at <= s->shape.bounds().high[a] + near;
    });
  }
  /// A medium, or -1 in metal.
  int kind(const Line& l, double at) const {
    if (on_sheet(l, at)) return -1;
    const Point p = point(l.t, at);
    int medium = scene_.scene().background;
    for (const Structure* s : l.bodies)
      if (s->shape.contains(p)) {
        medium = s->medium_at(p);
        break;
      }
    const bool mixed = static_cast<std::size_t>(medium) >= metal_.size();
    return !mixed && metal_[static_cast<std::size_t>(medium)] ? -1 : medium;
  }

  /// A face on the line, and who has it.
  struct Stop {
    double at;
    std::string who;
    bool mirror = false;         ///< what ends here goes on as its image
    bool wall = false;           ///< metal behind it
    bool open = false;           ///< the domain ends, and nothing is known of what is behind
    double thinnest = INFINITY;  ///< the shortest side of what has it
  };

  std::vector<Stop> stops(const Through& t) const {
    const auto a = static_cast<std::size_t>(axis_);
    const auto face = [&](bool high) {
      return Stop{.at = high ? domain_.high[a] : domain_.low[a],
                  .who = options_.mirrors[a][high] ? "its image" : "the wall",
                  .mirror = options_.mirrors[a][high],
                  .wall = options_.walls[a][high],
                  .open = !options_.walls[a][high] && !options_.mirrors[a][high]};
    };
    std::vector<Stop> out{face(false)};
    const auto [u, v] = others();
    for (const BodyFace* f : faces_) {
      const Bounds& b = f->extent;
      if (t[0] < b.low[u] || t[0] > b.high[u] || t[1] < b.low[v] || t[1] > b.high[v]) continue;
      if (out.size() > 1 && !(f->at > out.back().at + near_)) {
        if (metal_of(f->structure)) out.back().who = name(f->structure);
        continue;
      }
      if (!(f->at > out.back().at + near_)) continue;
      const std::array<double, 3> side =
          sides(scene_.scene().structures[f->structure].shape.bounds());
      out.push_back({.at = f->at,
                     .who = name(f->structure),
                     .thinnest = *std::min_element(side.begin(), side.end())});
    }
    Stop end = face(true);
    if (out.size() > 1 && !(out.back().at < end.at - near_)) {
      end.who = out.back().who;
      out.pop_back();
    }
    out.push_back(end);
    return out;
  }

  /// What a straight line runs through.
  struct Trace {
    std::vector<Stop> stops;
    std::vector<int> inside;  ///< kinds between stops
    std::vector<bool> shut;   ///< metal at a stop: around it, or a sheet in it
  };
  Trace trace(const Through& t) const {
    const Line here = line(t);
    Trace out{stops(t), {}, {}};
    const auto& s = out.stops;
    const std::size_t n = s.size() - 1;
    for (std::size_t k = 0; k < n; ++k)
      out.inside.push_back(kind(here, (s[k].at + s[k + 1].at) / 2));
    for (std::size_t k = 0; k <= n; ++k)
      out.shut.push_back((k > 0 && out.inside[k - 1] < 0) || (k < n && out.inside[k] < 0) ||
                         s[k].wall || on_sheet(here, s[k].at, near_));
    return out;
  }

  void along(const Through& t, AxisDemands& to, std::vector<SceneDemands::Gap>& gaps) const {
    const Trace found = trace(t);
    const auto& [s, inside, shut] = found;
    const std::size_t n = s.size() - 1;
    const auto demand = [&, &s = s](std::size_t from, std::size_t end, int cells,
                                    std::string reason) {
      const double width = s[end].at - s[from].at;
      const bool half = (from == 0 && s[from].mirror) || (end == n && s[end].mirror);
      if (half) cells = (cells + 1) / 2;
      const CellDemand c{s[from].at, s[end].at, width / cells, std::move(reason)};
      if (c.cell < to.cell) to.cells.push_back(c);
      return c;
    };
    const auto both = [&s = s](std::size_t k, std::size_t l) {
      return s[k].who + " and " + s[l].who;
    };
    for (std::size_t k = 0; k < n; ++k) {
      if (inside[k] < 0) {
        strip(k, s, inside, demand);
        continue;
      }
      std::size_t end = k + 1;
      if (k == 0 || shut[k] || inside[k - 1] != inside[k]) {
        while (end < n && !shut[end] && inside[end] == inside[k]) ++end;
        if (!s[k].open && !s[end].open && (k > 0 || end < n))
          demand(k, end, options_.layer_cells,
                 s[k].who == s[end].who ? "the layer " + s[k].who
                                        : "the layer between " + both(k, end));
      }
      if (!shut[k]) continue;
      end = k + 1;
      while (end <= n && !shut[end] && (end == n || inside[end] >= 0)) ++end;
      if (end > n || !shut[end]) continue;
      const bool walls_alone = k == 0 && end == n;
      if (walls_alone) continue;
      const CellDemand c = demand(k, end, options_.gap_cells, "the gap between " + both(k, end));
      gaps.push_back({axis_, s[end].at - s[k].at, c.reason});
    }
  }

  /// Metal from s[k] to s[k + 1], or further.
  template <class Demand>
  void strip(std::size_t k, const std::vector<Stop>& s, const std::vector<int>& inside,
             const Demand& demand) const {
    const std::size_t n = s.size() - 1;
    if (k > 0 && inside[k - 1] < 0) return;
    std::size_t end = k + 1;
    while (end < n && inside[end] < 0) ++end;
    if ((k == 0 && !s[0].mirror) || (end == n && !s[n].mirror)) return;
    double thinnest = INFINITY;
    for (std::size_t q = k; q <= end; ++q) thinnest = std::min(thinnest, s[q].thinnest);
    if (s[end].at - s[k].at < kStrip * thinnest) return;
    const std::string &a = s[k].who, &b = s[end].who;
    demand(k, end, options_.gap_cells,
           "the width of " + (k == 0               ? b
                              : a == b || end == n ? a
                                                   : a + " and " + b));
  }

  const SceneOrder& scene_;
  const SceneDemandOptions& options_;
  Bounds domain_;
  int axis_;
  std::size_t one_of_;
  double near_;  ///< faces that are no further apart are one
  std::vector<bool> metal_;
  std::vector<const Structure*> sheets_;
  std::vector<const BodyFace*> faces_;
};

}  // namespace

bool is_metal(const Medium& medium, std::span<const double> frequencies_hz) {
  return medium.pec || (!frequencies_hz.empty() &&
                        std::all_of(frequencies_hz.begin(), frequencies_hz.end(), [&](double f) {
                          const double n = index_at(medium, f);
                          return n * n > kMetalEps;
                        }));
}

double cell_in(const Medium& medium, const SceneDemandOptions& o) {
  double cell = INFINITY;
  for (const double f : o.frequencies_hz)
    cell = std::min(cell, speed_of_light / f / index_at(medium, f) / o.cells_per_wavelength);
  return cell;
}

SceneDemands scene_demands(const Scene& scene, const std::vector<Medium>& media,
                           const Bounds& domain, const SceneDemandOptions& o) {
  const bool positive = std::all_of(o.frequencies_hz.begin(), o.frequencies_hz.end(),
                                    [](double f) { return f > 0 && std::isfinite(f); });
  if (o.frequencies_hz.empty() || !positive || !(o.cells_per_wavelength > 0))
    throw Error("[scene_demands] expected frequencies above 0 and cells in a wavelength");
  require_media(scene, media.size());
  std::vector<double> cell;
  std::vector<bool> metal;
  for (const Medium& m : media) {
    metal.push_back(is_metal(m, o.frequencies_hz));
    cell.push_back(metal.back() ? INFINITY : cell_in(m, o));
  }
  const auto background = static_cast<std::size_t>(scene.background);
  const double longest = metal[background] ? *std::max_element(cell.begin(), cell.end(),
                                                               [](double a, double b) {
                                                                 return (std::isfinite(a) ? a : 0) <
                                                                        (std::isfinite(b) ? b : 0);
                                                               })
                                           : cell[background];
  if (!std::isfinite(longest))
    throw Error("[scene_demands] all media are conductors: no wave is to be resolved");
  const SceneOrder order(scene);
  const SceneFaces found = scene_faces(scene, domain);
  SceneDemands out;
  // A look along a line passes all bodies by; there are up to fifteen of a face.
  out.one_of = 1 + static_cast<std::size_t>(15.0 * static_cast<double>(found.faces.size()) *
                                            static_cast<double>(found.parts.size()) / kMostLooks);
  std::vector<Look> looks;
  for (int axis = 0; axis < 3; ++axis)
    looks.emplace_back(order, media, found, domain, o, axis, out.one_of, kNear * longest);
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    AxisDemands& to = out.axes[a];
    to = {.low = domain.low[a],
          .high = domain.high[a],
          .cell = longest,
          .reason = "the wavelength in " + media[background].name};
    for (const BodyPart& p : found.parts) {
      if (p.hollow) continue;
      const Structure& s = scene.structures[p.structure];
      double own = cell[static_cast<std::size_t>(s.medium)];
      if (s.pixels)
        for (const std::int32_t m : s.pixels->medium) {
          const Blend* b = scene.blend_of(m);
          own = std::min(own, b ? std::min(cell[static_cast<std::size_t>(b->empty)],
                                           cell[static_cast<std::size_t>(b->full)])
                                : cell[static_cast<std::size_t>(m)]);
        }
      if (own < longest)
        to.cells.push_back({p.extent.low[a], p.extent.high[a], own,
                            fmt::format("the wavelength in {}",
                                        s.name.empty() ? fmt::format("structure {}", p.structure)
                                                       : "'" + s.name + "'")});
    }
    if (!(domain.high[a] > domain.low[a])) continue;
    looks[a].add_lines(to);
    looks[a].add_thin(to, out.gaps);
    looks[a].add_edges(to, looks);
  }
  return out;
}

}  // namespace tessera::electromagnetics
