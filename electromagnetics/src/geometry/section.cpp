// SPDX-License-Identifier: Apache-2.0
//
// How the lines are found. To first order a point of the plane is
//   f = d / |g|   steps of the window
// away from the section of a body, d its distance in space, g the change of d per step along u and
// v. The contour f = contour_level, by marching squares, lies a little outside of the body: so far
// that no sheet slips between the points of the lattice, for which a stretch has to be sqrt(2)
// steps wide. Its points are then moved onto the surface, q -= f g/|g| until f is zero: smooth,
// with sharp corners, both faces of a sheet on one line. A contour of media on the points would be
// ragged by a step, and one of the grid's averages by a share of a cell, without sheets.
#include "tessera/electromagnetics/section.h"

#include "geometry/pixel_outlines.h"
#include "geometry/polylines.h"
#include "geometry/shape_node.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

using LatticePoint = std::array<double, 2>;  ///< on the lattice: 0 to steps

// In steps:
constexpr double contour_level = 0.75;  ///< a little more than sqrt(1/2)
constexpr int block = 4;                ///< what the plane is halved down to
constexpr double moved_at_most = 2;     ///< points; nothing further from a block is looked at
constexpr double exact = 0.01, good_enough = 0.2;  ///< f of a point that was moved; where it ends
constexpr double beside = 0.1;                     ///< where the two sides of a line are looked at
constexpr double rim_width = 0.5;   ///< what is nearer to the rim of the window lies on it
constexpr double line_error = 0.1;  ///< of points that are left out

/// A shape that is no union: these are taken apart, so that bodies repeated a thousand times cost
/// no more than a thousand bodies.
struct SectionPart {
  const ShapeNode* node;
  int medium;
  const Structure* pixels = nullptr;  ///< its lines are pixel_outlines's; here it covers others

  int medium_at(const Point& p) const { return pixels ? pixels->medium_at(p) : medium; }
};

class Section {
 public:
  Section(const SceneOrder& scene, const SectionWindow& w)
      : window_(w), u_(w.axis == 0 ? 1 : 0), v_(w.axis == 2 ? 1 : 2) {
    for (int k = 0; k < 2; ++k) step_[k] = (w.high[k] - w.low[k]) / w.steps[k];
    touching_ = 1e-9 * std::min(step_[0], step_[1]);
    std::vector<int> all;
    for (const std::size_t i : scene.from_top()) {
      const Structure& s = scene.scene().structures[i];
      add(s.shape.node(), s.medium, s.pixels ? &s : nullptr);
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) all.push_back(static_cast<int>(p));
    walk({0, 0}, {w.steps[0], w.steps[1]}, all, scene.scene().background);
  }

  std::vector<SectionLine> lines() const {
    std::vector<SectionLine> out;
    for (const std::vector<int>& line : chains(points_.size(), segments_)) {
      std::vector<LatticePoint> points;
      for (const int p : line) points.push_back(points_[static_cast<std::size_t>(p)].at);
      SectionLine& drawn = out.emplace_back();
      for (const LatticePoint& q : simplified(points, line_error))
        drawn.push_back({along(0, q), along(1, q)});
    }
    return out;
  }

 private:
  struct LinePoint {
    LatticePoint at;
    bool seen;  ///< otherwise other bodies cover it, or both of its sides are of one medium
  };
  struct InPlane {
    double value;         ///< f
    LatticePoint normal;  ///< g/|g|
  };
  struct Corner {
    LatticePoint at;
    double f;
    bool inside() const { return f < contour_level; }
  };

  void add(const ShapeNode& node, int medium, const Structure* pixels) {
    const Bounds& b = node.bounds;
    if (b.empty() || !(b.low[window_.axis] <= window_.at + touching_ &&
                       b.high[window_.axis] >= window_.at - touching_))
      return;
    if (node.kind == ShapeKind::unite)
      for (const auto& part : node.parts) add(*part, medium, pixels);
    else
      parts_.push_back({&node, medium, pixels});
  }

  double along(int k, const LatticePoint& q) const {
    return std::clamp(window_.low[k] + q[k] * step_[k], window_.low[k], window_.high[k]);
  }
  Point in_space(const LatticePoint& q) const {
    Point p;
    p[window_.axis] = window_.at;
    p[u_] = window_.low[0] + q[0] * step_[0];
    p[v_] = window_.low[1] + q[1] * step_[1];
    return p;
  }

  InPlane level(const SectionPart& part, const LatticePoint& q) const {
    const Distance d = distance(*part.node, in_space(q));
    const LatticePoint g{d.gradient[u_] * step_[0], d.gradient[v_] * step_[1]};
    const double length = std::hypot(g[0], g[1]);
    if (std::abs(d.value) <= touching_) return {0, {}};
    if (!(length > 0)) return {std::copysign(INFINITY, d.value), {}};
    return {d.value / length, {g[0] / length, g[1] / length}};
  }

  /// The square [low, high) of the lattice, of the parts that may be in it and what is below them.
  void walk(std::array<int, 2> low, std::array<int, 2> high, const std::vector<int>& above,
            int floor) {
    const LatticePoint middle{(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0};
    const LatticePoint half{(high[0] - low[0]) / 2.0 + moved_at_most,
                            (high[1] - low[1]) / 2.0 + moved_at_most};
    const Point at = in_space(middle);
    const double reach = std::hypot(half[0] * step_[0], half[1] * step_[1]);
    const double contour_within =
        std::hypot((half[0] - moved_at_most) * step_[0], (half[1] - moved_at_most) * step_[1]) +
        contour_level * std::max(step_[0], step_[1]);
    std::vector<int> parts;
    bool any = false;  // contour
    for (const int p : above) {
      const ShapeNode& node = *parts_[static_cast<std::size_t>(p)].node;
      const auto apart = [&](int axis, int k) {
        const double room = half[k] * step_[k];
        return node.bounds.low[axis] > at[axis] + room || node.bounds.high[axis] < at[axis] - room;
      };
      if (apart(u_, 0) || apart(v_, 1)) continue;
      const double c = clearance(node, at);
      if (c > reach) continue;
      const SectionPart& part = parts_[static_cast<std::size_t>(p)];
      const bool covers = c < -reach;  // the square, and all below it
      if (covers) floor = part.medium;
      if (part.pixels || !covers) parts.push_back(p);
      if (covers) break;
      any = any || (!part.pixels && std::abs(c) <= contour_within);
    }
    if (!any) return;
    const int k = high[0] - low[0] >= high[1] - low[1] ? 0 : 1;
    if (high[k] - low[k] <= block) {
      for (std::size_t n = 0; n < parts.size(); ++n)
        if (!parts_[static_cast<std::size_t>(parts[n])].pixels) contour(low, high, parts, n, floor);
      return;
    }
    std::array<int, 2> cut_high = high, cut_low = low;
    cut_high[k] = cut_low[k] = (low[k] + high[k]) / 2;
    walk(low, cut_high, parts, floor);
    walk(cut_low, high, parts, floor);
  }

  /// Marching squares over a block, of parts[n].
  void contour(std::array<int, 2> low, std::array<int, 2> high, const std::vector<int>& parts,
               std::size_t n, int floor) {
    const SectionPart& part = parts_[static_cast<std::size_t>(parts[n])];
    std::array<std::array<double, block + 1>, block + 1> f;
    for (int j = low[1]; j <= high[1]; ++j)
      for (int i = low[0]; i <= high[0]; ++i)
        f[j - low[1]][i - low[0]] = level(part, {double(i), double(j)}).value;
    for (int j = low[1]; j < high[1]; ++j)
      for (int i = low[0]; i < high[0]; ++i) {
        constexpr std::array<std::array<int, 2>, 4> round{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
        std::array<Corner, 4> corner;
        for (std::size_t c = 0; c < 4; ++c) {
          const int a = i + round[c][0], b = j + round[c][1];
          corner[c] = {{double(a), double(b)}, f[b - low[1]][a - low[0]]};
        }
        std::array<std::size_t, 4> cut{};  // sides with the contour, side c from corner c on
        std::size_t n_cut = 0;
        for (std::size_t c = 0; c < 4; ++c)
          if (corner[c].inside() != corner[(c + 1) % 4].inside()) cut[n_cut++] = c;
        const auto connect = [&](std::size_t a, std::size_t b) {
          const int p = point_on(parts, n, floor, corner[a], corner[(a + 1) % 4]),
                    q = point_on(parts, n, floor, corner[b], corner[(b + 1) % 4]);
          if (p >= 0 && q >= 0) add_segment(p, q);
        };
        if (n_cut == 2) connect(cut[0], cut[1]);
        if (n_cut == 4) {  // a saddle: the middle says which two corners hang together
          const bool first =
              (level(part, {i + 0.5, j + 0.5}).value < contour_level) == corner[0].inside();
          connect(0, first ? 1 : 3);
          connect(2, first ? 3 : 1);
        }
      }
  }

  /// The number of the point between two neighbours of the lattice, one on either side of the
  /// contour; -1 where there is no surface.
  int point_on(const std::vector<int>& parts, std::size_t n, int floor, const Corner& a,
               const Corner& b) {
    const bool upright = a.at[0] == b.at[0];
    const auto i = static_cast<std::uint64_t>(std::min(a.at[0], b.at[0])),
               j = static_cast<std::uint64_t>(std::min(a.at[1], b.at[1]));
    const auto across = static_cast<std::uint64_t>(window_.steps[0]) + 1,
               up = static_cast<std::uint64_t>(window_.steps[1]) + 1;
    const std::uint64_t key =
        ((static_cast<std::uint64_t>(parts[n]) * up + j) * across + i) * 2 + upright;
    const auto [known, fresh] = number_.try_emplace(key, -1);
    if (!fresh) return known->second;
    const SectionPart& part = parts_[static_cast<std::size_t>(parts[n])];
    LatticePoint in = a.inside() ? a.at : b.at, out = a.inside() ? b.at : a.at;
    const double f_in = std::min(a.f, b.f), f_out = std::max(a.f, b.f);
    const double t =
        std::isfinite(f_in) && std::isfinite(f_out) ? (contour_level - f_in) / (f_out - f_in) : 0.5;
    LatticePoint start{in[0] + t * (out[0] - in[0]), in[1] + t * (out[1] - in[1])};
    InPlane here = level(part, start);
    // Where f is no plane:
    for (int halving = 0; halving < 5 && std::abs(here.value - contour_level) > 0.2; ++halving) {
      (here.value < contour_level ? in : out) = start;
      start = {(in[0] + out[0]) / 2, (in[1] + out[1]) / 2};
      here = level(part, start);
    }
    const LatticePoint normal = here.normal;
    LatticePoint at = start;
    for (int round = 0; round < 12; ++round) {
      if (std::abs(here.value) <= exact || !(std::abs(here.value) < moved_at_most)) break;
      at = {at[0] - here.value * here.normal[0], at[1] - here.value * here.normal[1]};
      here = level(part, at);
    }
    if (!(std::abs(here.value) <= good_enough) ||
        std::hypot(at[0] - start[0], at[1] - start[1]) > moved_at_most)
      return -1;
    known->second = static_cast<int>(points_.size());
    points_.push_back({at, seen(parts, n, floor, at, normal)});
    return known->second;
  }

  /// Whether the surface of parts[n] at a point parts two media that are seen there. A face that
  /// two bodies share is the upper one's.
  bool seen(const std::vector<int>& parts, std::size_t n, int floor, const LatticePoint& at,
            const LatticePoint& normal) const {
    const Point before = in_space({at[0] - beside * normal[0], at[1] - beside * normal[1]});
    const Point behind = in_space({at[0] + beside * normal[0], at[1] + beside * normal[1]});
    const auto holds = [&](std::size_t m, const Point& p) {
      return contains(*parts_[static_cast<std::size_t>(parts[m])].node, p);
    };
    for (std::size_t m = 0; m < n; ++m)
      if (holds(m, before) || holds(m, behind)) return false;
    int around = floor;
    for (std::size_t m = parts.size(); m-- > n + 1;)
      if (holds(m, behind)) around = parts_[static_cast<std::size_t>(parts[m])].medium_at(behind);
    return around != parts_[static_cast<std::size_t>(parts[n])].medium;
  }

  void add_segment(int a, int b) {
    const LinePoint &p = points_[static_cast<std::size_t>(a)],
                    &q = points_[static_cast<std::size_t>(b)];
    if (!p.seen && !q.seen) return;
    for (int k = 0; k < 2; ++k) {
      if (std::max(p.at[k], q.at[k]) <= rim_width) return;
      if (std::min(p.at[k], q.at[k]) >= window_.steps[k] - rim_width) return;
    }
    segments_.push_back({a, b});
  }

  const SectionWindow& window_;
  int u_, v_;
  std::array<double, 2> step_{};
  double touching_;                 ///< m: nearer surfaces touch the plane
  std::vector<SectionPart> parts_;  ///< from the top
  std::unordered_map<std::uint64_t, int> number_;
  std::vector<LinePoint> points_;
  std::vector<std::array<int, 2>> segments_;
};

}  // namespace

std::vector<SectionLine> section_lines(const SceneOrder& scene, const SectionWindow& window) {
  if (window.axis < 0 || window.axis > 2 || !std::isfinite(window.at))
    throw Error(
        fmt::format("[section_lines] the plane is across axis 0, 1 or 2 at a finite position, got "
                    "axis {} at {}",
                    window.axis, window.at));
  for (int k = 0; k < 2; ++k)
    if (!(std::isfinite(window.low[k]) && std::isfinite(window.high[k]) &&
          window.low[k] < window.high[k]) ||
        window.steps[k] < 1 || window.steps[k] > 1 << 20)
      throw Error(
          fmt::format("[section_lines] the window needs low < high, finite, and 1 to 2^20 steps, "
                      "got [{}, {}] in {} steps",
                      window.low[k], window.high[k], window.steps[k]));
  std::vector<SectionLine> lines = Section(scene, window).lines();
  add_pixel_outlines(scene, window, lines);
  return lines;
}

}  // namespace tessera::electromagnetics
