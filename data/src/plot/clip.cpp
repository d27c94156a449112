// SPDX-License-Identifier: Apache-2.0
#include "plot/clip.h"

#include <algorithm>
#include <cmath>

namespace tessera::data::plot {

bool clip_segment(const Rect& box, Point& p, Point& q) {
  const double dx = q.x - p.x, dy = q.y - p.y;
  double enter = 0, leave = 1;
  const auto edge = [&](double direction, double room) {  // inside where direction * t <= room
    if (direction == 0) return room >= 0;
    const double t = room / direction;
    if (direction < 0)
      enter = std::max(enter, t);
    else
      leave = std::min(leave, t);
    return enter <= leave;
  };
  if (!(edge(-dx, p.x - box.x) && edge(dx, box.right() - p.x) && edge(-dy, p.y - box.y) &&
        edge(dy, box.bottom() - p.y)))
    return false;
  const Point start = p;
  p = {start.x + enter * dx, start.y + enter * dy};
  q = {start.x + leave * dx, start.y + leave * dy};
  return true;
}

std::vector<std::vector<Point>> clip_polyline(const Rect& box, std::span<const Point> points) {
  constexpr double kNear = 0.02;
  std::vector<std::vector<Point>> parts;
  const auto same = [](Point a, Point b) {
    return std::abs(a.x - b.x) < kNear && std::abs(a.y - b.y) < kNear;
  };
  bool open = false;  // the last part may be continued
  Point last{};       // the last point looked at, inside or not
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 0) {
      last = points[0];
      continue;
    }
    if (same(points[i], last) && i + 1 < points.size()) continue;
    Point p = last, q = points[i];
    last = points[i];
    const Point end = q;
    if (!clip_segment(box, p, q)) {
      open = false;
      continue;
    }
    if (!open) parts.push_back({p});
    parts.back().push_back(q);
    open = q.x == end.x && q.y == end.y;
  }
  return parts;
}

std::vector<Point> clip_polygon(const Rect& box, std::vector<Point> points) {
  const auto cut = [&](auto inside, auto crossing) {
    std::vector<Point> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point p = points[i], q = points[(i + 1) % points.size()];
      if (inside(p)) kept.push_back(p);
      if (inside(p) != inside(q)) kept.push_back(crossing(p, q));
    }
    points = std::move(kept);
  };
  const auto at_x = [](double x) {
    return [x](Point p, Point q) {
      return Point{x, p.y + (q.y - p.y) * ((x - p.x) / (q.x - p.x))};
    };
  };
  const auto at_y = [](double y) {
    return [y](Point p, Point q) {
      return Point{p.x + (q.x - p.x) * ((y - p.y) / (q.y - p.y)), y};
    };
  };
  cut([&](Point p) { return p.x >= box.x; }, at_x(box.x));
  cut([&](Point p) { return p.x <= box.right(); }, at_x(box.right()));
  cut([&](Point p) { return p.y >= box.y; }, at_y(box.y));
  cut([&](Point p) { return p.y <= box.bottom(); }, at_y(box.bottom()));
  return points;
}

Rect clip_rect(const Rect& box, const Rect& r) {
  const double x = std::max(box.x, r.x), y = std::max(box.y, r.y);
  return {x, y, std::max(0.0, std::min(box.right(), r.right()) - x),
          std::max(0.0, std::min(box.bottom(), r.bottom()) - y)};
}

}  // namespace tessera::data::plot
