// SPDX-License-Identifier: Apache-2.0
//
// Sides of pixels, in pieces of a step of the window, which other bodies may cover one by one.
#include "geometry/pixel_outlines.h"

#include "geometry/polylines.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::electromagnetics::detail {
namespace {

constexpr double beside_step = 1e-3;  ///< where the two sides of a line are looked at, in steps
constexpr double rim_step = 0.5;      ///< what is nearer to the rim of the window lies on it

class PixelOutlines {
 public:
  PixelOutlines(const SceneOrder& scene, const SectionWindow& w, const Structure& s)
      : scene_(scene), window_(w), own_(s), u_(w.axis == 0 ? 1 : 0), v_(w.axis == 2 ? 1 : 2) {
    for (int k = 0; k < 2; ++k) step_[k] = (w.high[k] - w.low[k]) / w.steps[k];
    sides(0), sides(1);
  }

  void add_to(std::vector<SectionLine>& out) const {
    for (const std::vector<int>& line : chains(points_.size(), segments_)) {
      std::vector<std::array<double, 2>> points;
      for (const int p : line) points.push_back(points_[static_cast<std::size_t>(p)]);
      SectionLine& drawn = out.emplace_back();
      for (const auto& q : simplified(points, 0.01))
        drawn.push_back({window_.low[0] + q[0] * step_[0], window_.low[1] + q[1] * step_[1]});
    }
  }

 private:
  /// Sides across direction k of the plane.
  void sides(int k) {
    const int axis = k == 0 ? u_ : v_, along = k == 0 ? v_ : u_;
    const Pixels& p = *own_.pixels;
    Point at;
    at[static_cast<std::size_t>(window_.axis)] = window_.at;
    std::array<int, 3> pixel = p.around(at_middle_of(at));
    for (int j = 0; j < p.count(along); ++j) {
      const double low = std::max(p.lines[along][j], window_.low[1 - k]),
                   high = std::min(p.lines[along][j + 1], window_.high[1 - k]);
      if (!(low < high)) continue;
      const auto pieces = std::max(1, static_cast<int>(std::ceil((high - low) / step_[1 - k])));
      pixel[along] = j;
      for (int i = 0; i <= p.count(axis); ++i) {
        const double x = p.lines[axis][i], rim = rim_step * step_[k];
        if (!(x > window_.low[k] + rim && x < window_.high[k] - rim)) continue;
        if (i > 0 && i < p.count(axis)) {
          pixel[axis] = i - 1;
          const int before = p.at(pixel);
          pixel[axis] = i;
          if (before == p.at(pixel)) continue;
        }
        for (int n = 0; n < pieces; ++n) {
          const double from = low + (high - low) * n / pieces,
                       to = n + 1 == pieces ? high : low + (high - low) * (n + 1) / pieces;
          at[axis] = x, at[along] = (from + to) / 2;
          if (seen(at, axis, k)) segments_.push_back({number(k, x, from), number(k, x, to)});
        }
      }
    }
  }

  Point at_middle_of(Point p) const {
    p[u_] = own_.pixels->lines[u_].front(), p[v_] = own_.pixels->lines[v_].front();
    return p;
  }

  bool seen(Point at, int axis, int k) const {
    std::array<int, 2> medium{};
    bool own = false;
    for (const int side : {0, 1}) {
      Point p = at;
      p[axis] += (side == 0 ? -1 : 1) * beside_step * step_[k];
      medium[side] = scene_.scene().background;
      bool above = true;  // of structures that cover this one
      for (const std::size_t n : scene_.from_top()) {
        const Structure& s = scene_.scene().structures[n];
        const bool is_own = &s == &own_;
        if (is_own) above = false;
        if (!s.shape.contains(p)) continue;
        if (above) return false;
        own = own || is_own;
        medium[side] = s.medium_at(p);
        break;
      }
    }
    return own && medium[0] != medium[1];
  }

  /// Of a point, in steps.
  int number(int k, double across, double along) {
    std::array<double, 2> q;
    q[k] = (across - window_.low[k]) / step_[k];
    q[1 - k] = (along - window_.low[1 - k]) / step_[1 - k];
    const auto known = number_.find(q);
    if (known != number_.end() && uses_[static_cast<std::size_t>(known->second)] < 2) {
      ++uses_[static_cast<std::size_t>(known->second)];
      return known->second;
    }
    // Four sides meet where pixels touch at a corner alone: two lines.
    const auto fresh = static_cast<int>(points_.size());
    number_[q] = fresh;
    points_.push_back(q);
    uses_.push_back(1);
    return fresh;
  }

  const SceneOrder& scene_;
  const SectionWindow& window_;
  const Structure& own_;
  int u_, v_;
  std::array<double, 2> step_{};
  std::map<std::array<double, 2>, int> number_;
  std::vector<std::array<double, 2>> points_;
  std::vector<int> uses_;
  std::vector<std::array<int, 2>> segments_;
};

}  // namespace

void add_pixel_outlines(const SceneOrder& scene, const SectionWindow& window,
                        std::vector<SectionLine>& lines) {
  for (const Structure& s : scene.scene().structures) {
    const auto& along = s.shape.bounds();
    const auto axis = static_cast<std::size_t>(window.axis);
    if (s.pixels && along.low[axis] <= window.at && window.at <= along.high[axis])
      PixelOutlines(scene, window, s).add_to(lines);
  }
}

}  // namespace tessera::electromagnetics::detail
