// SPDX-License-Identifier: Apache-2.0
#include "plot/clip.h"
#include "plot/draw.h"

#include <array>
#include <map>
#include <numbers>

namespace tessera::data::plot {
namespace {

class SeriesPainter {
 public:
  SeriesPainter(Canvas& canvas, const PanelLayout& layout, std::vector<Point>& occupied)
      : canvas_(canvas), p_(layout), occupied_(occupied) {}

  void start(std::size_t index) {
    colour_ = p_.series_colour[index];
    dropped_ = 0;
  }
  std::size_t dropped() const { return dropped_; }

  void operator()(const Line& s) {
    std::vector<Point> run;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (drawable(s.x[i], s.y[i]))
        run.push_back(p_.at(s.x[i], s.y[i]));
      else
        flush(run, s.stroke);
    }
    flush(run, s.stroke);
  }

  void operator()(const Steps& s) {
    std::vector<Point> run;
    const Scale& across = s.vertical ? p_.x : p_.y;
    for (std::size_t i = 0; i < s.value.size(); ++i) {
      if (!across.usable(s.value[i])) {
        dropped_ += !std::isnan(s.value[i]);
        flush(run, s.stroke);
        continue;
      }
      for (const double e : {s.edge[i], s.edge[i + 1]})
        run.push_back(s.vertical ? p_.at(s.value[i], e) : p_.at(e, s.value[i]));
    }
    flush(run, s.stroke);
  }

  void operator()(const Points& s) {
    const Pen bar{colour_, 0.8};
    const double cap = s.size * 0.4;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!drawable(s.x[i], s.y[i])) continue;
      const Point at = p_.at(s.x[i], s.y[i]);
      const auto arm = [&](const std::vector<double>& length, bool vertical, double sign) {
        if (length.empty() || std::isnan(length[i]) || !(length[i] > 0)) return;
        const Point end = vertical ? p_.at(s.x[i], s.y[i] + sign * length[i])
                                   : p_.at(s.x[i] + sign * length[i], s.y[i]);
        segment(at, end, bar);
        if (!p_.frame.contains(end)) return;
        if (vertical)
          segment({end.x - cap, end.y}, {end.x + cap, end.y}, bar);
        else
          segment({end.x, end.y - cap}, {end.x, end.y + cap}, bar);
      };
      arm(s.x_minus, false, -1), arm(s.x_plus, false, 1), arm(s.y_minus, true, -1),
          arm(s.y_plus, true, 1);
    }
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!p_.x.usable(s.x[i]) || !p_.y.usable(s.y[i])) continue;
      const Point at = p_.at(s.x[i], s.y[i]);
      if (!p_.frame.contains(at)) continue;
      draw_marker(canvas_, at, s.marker, s.size, s.filled, colour_);
      occupied_.push_back(at);
    }
  }

  void operator()(const Band& s) {
    const bool stepped = s.at.size() == s.low.size() + 1;
    std::vector<Point> low, high;
    const auto fill = [&] {
      low.insert(low.end(), high.rbegin(), high.rend());
      high.clear();
      const std::vector<Point> inside = clip_polygon(p_.frame, std::move(low));
      low.clear();
      if (inside.size() >= 3)
        canvas_.polygon(inside, {colour_.r, colour_.g, colour_.b, colour_.a * s.opacity});
    };
    const auto add = [&](double at, std::size_t i) {
      low.push_back(s.vertical ? p_.at(s.low[i], at) : p_.at(at, s.low[i]));
      high.push_back(s.vertical ? p_.at(s.high[i], at) : p_.at(at, s.high[i]));
    };
    for (std::size_t i = 0; i < s.low.size(); ++i) {
      if (std::isnan(s.low[i]) || std::isnan(s.high[i]) || std::isnan(s.at[i]) ||
          (stepped && std::isnan(s.at[i + 1]))) {
        fill();
        continue;
      }
      add(s.at[i], i);
      if (stepped) add(s.at[i + 1], i);
    }
    fill();
  }

  void operator()(const HeatMap& s) {
    if (s.value.empty()) return;
    const std::size_t nx = s.x_edge.size() - 1, ny = s.y_edge.size() - 1;
    std::map<int, std::vector<Rect>> by_level;  // 256 levels: one path each in the file
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i) {
        const double v = s.value[j * nx + i];
        if (!p_.colour.usable(v)) {
          dropped_ += !std::isnan(v);
          continue;
        }
        const Rect cell = cell_of(s, i, j, j + 1);
        if (cell.w <= 0 || cell.h <= 0) continue;
        by_level[static_cast<int>(std::lround(std::clamp(p_.colour.fraction(v), 0.0, 1.0) * 255))]
            .push_back(cell);
      }
    for (const auto& [level, cells] : by_level)
      canvas_.cells(cells, colour_at(p_.panel->colour.map, level / 255.0));
    if (!s.masked.empty()) veil(s, nx, ny);
  }

  void operator()(const MeshCells& s) {
    std::map<std::pair<int, int>, std::vector<std::vector<Point>>> by_colour;  // a path for each
    for (std::size_t k = 0; k < s.value.size(); ++k) {
      std::vector<Point> cell;
      bool on_page = true;
      for (std::size_t i = 0; i < s.corners; ++i) {
        const std::size_t at = s.corner[k * s.corners + i];
        on_page = on_page && !std::isnan(s.x[at]) && !std::isnan(s.y[at]);
        cell.push_back(p_.at(s.x[at], s.y[at]));
      }
      const double v = s.value[k], veil = s.veil.empty() ? 0 : s.veil[k];
      if (!on_page || !p_.colour.usable(v) || std::isnan(veil)) {
        dropped_ += on_page && !std::isnan(v) && !std::isnan(veil);
        continue;
      }
      cell = clip_polygon(p_.frame, std::move(cell));
      if (cell.size() < 3) continue;
      const auto step = [](double t, int n) {
        return static_cast<int>(std::lround(std::clamp(t, 0.0, 1.0) * n));
      };
      by_colour[{step(p_.colour.fraction(v), 255), step(veil, kVeils)}].push_back(std::move(cell));
    }
    for (const auto& [key, cells] : by_colour) {
      Colour c = colour_at(p_.panel->colour.map, key.first / 255.0);
      const double white = static_cast<double>(key.second) / kVeils;
      for (double* part : {&c.r, &c.g, &c.b}) *part += white * (1 - *part);
      canvas_.polygons(cells, c);
    }
  }

  void operator()(const Text& s) {
    Point at{p_.frame.x + s.x * p_.frame.w, p_.frame.bottom() - s.y * p_.frame.h};
    if (!s.relative) {
      if (!drawable(s.x, s.y)) return;
      at = p_.at(s.x, s.y);
      if (!p_.frame.contains(at)) return;
    }
    at.y += s.size * kCapHeight *
            (s.vertical == Align::low      ? 0
             : s.vertical == Align::middle ? 0.5
                                           : 1);
    canvas_.text(at, s.text, {.size = s.size, .colour = s.colour, .align = s.horizontal});
    occupied_.push_back(at);
  }

  void operator()(const Rule& s) {
    const Scale& scale = s.vertical ? p_.x : p_.y;
    if (!scale.usable(s.at)) {
      dropped_ += !std::isnan(s.at);
      return;
    }
    const double t = scale.fraction(s.at);
    if (t < 0 || t > 1) return;
    const Rect& f = p_.frame;
    const double x = f.x + t * f.w, y = f.bottom() - t * f.h;
    if (s.vertical)
      segment({x, f.y}, {x, f.bottom()}, pen(s.stroke));
    else
      segment({f.x, y}, {f.right(), y}, pen(s.stroke));
    if (s.label_on_line && !s.label.empty()) name_rule(s, x, y);
  }

  void operator()(const Ellipses& s) {
    const Pen edge{{0.2, 0.2, 0.2, 1}, 0.4};
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!drawable(s.x[i], s.y[i]) ||
          !(s.major[i] >= 0 && s.minor[i] >= 0 && std::isfinite(s.angle[i])))
        continue;
      const Point at = p_.at(s.x[i], s.y[i]);
      if (!p_.frame.contains(at)) continue;
      Colour fill = colour_;
      if (!s.value.empty()) {
        if (!p_.colour.usable(s.value[i])) continue;
        fill = colour_at(p_.panel->colour.map, p_.colour.fraction(s.value[i]));
      }
      const auto size = [](double v) { return std::clamp(v, 0.3, 100.0); };
      canvas_.ellipse(at, size(s.minor[i]), size(s.major[i]), s.angle[i], fill, &edge);
      occupied_.push_back(at);
    }
  }

  void operator()(const Arrows& s) {
    constexpr double kLongest = 200;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!drawable(s.x[i], s.y[i]) || !(s.length[i] > 0) || !std::isfinite(s.angle[i])) continue;
      const Point from = p_.at(s.x[i], s.y[i]);
      if (!p_.frame.contains(from)) continue;
      const double length = std::min(s.length[i], kLongest), head = std::min(3.2, length),
                   turn = s.angle[i] * std::numbers::pi / 180, ux = std::sin(turn),
                   uy = -std::cos(turn);
      const auto at = [&](double along, double across) {
        return Point{from.x + along * ux - across * uy, from.y + along * uy + across * ux};
      };
      const std::array<Point, 2> shaft = {from, at(length - head, 0)};
      canvas_.polyline(shaft, pen(s.stroke));
      const std::array<Point, 3> tip = {at(length, 0), at(length - head, 0.45 * head),
                                        at(length - head, -0.45 * head)};
      canvas_.polygon(tip, colour_);
      occupied_.push_back(from);
      occupied_.push_back(tip[0]);
    }
  }

 private:
  static constexpr int kVeils = 32;  ///< steps of a veil

  /// Over the right end of a level rule or left of the upper end of an upright one, on a veil; on
  /// the other side where the frame leaves no room.
  void name_rule(const Rule& s, double x, double y) {
    constexpr double kSize = 6.5, kGap = 2.5;
    const Rect& f = p_.frame;
    const double width = text_width(s.label, kSize), height = kSize * kCapHeight;
    Rect box{f.right() - kGap - width, y - kGap - height, width, height};
    if (s.vertical) box = {x - kGap - height, f.y + kGap, height, width};
    if (!s.vertical && box.y < f.y) box.y = y + kGap;
    if (s.vertical && box.x < f.x) box.x = x + kGap;
    const std::array<Point, 4> veil = {Point{box.x - 1.5, box.y - 1.5},
                                       {box.right() + 1.5, box.y - 1.5},
                                       {box.right() + 1.5, box.bottom() + 1.5},
                                       {box.x - 1.5, box.bottom() + 1.5}};
    canvas_.polygon(veil, {1, 1, 1, 0.6});
    const Colour ink{0.25, 0.25, 0.25, 1};
    if (s.vertical)
      canvas_.text({box.right(), box.bottom()}, s.label,
                   {.size = kSize, .colour = ink, .degrees = -90});
    else
      canvas_.text({box.x, box.bottom()}, s.label, {.size = kSize, .colour = ink});
  }

  bool drawable(double x, double y) {
    if (p_.x.usable(x) && p_.y.usable(y)) return true;
    dropped_ += !std::isnan(x) && !std::isnan(y);
    return false;
  }
  Pen pen(const Stroke& s) const { return {colour_, s.width, s.dash}; }
  void segment(Point a, Point b, const Pen& pen) {
    if (!clip_segment(p_.frame, a, b)) return;
    const std::array<Point, 2> line = {a, b};
    canvas_.polyline(line, pen);
  }
  void flush(std::vector<Point>& run, const Stroke& stroke) {
    if (run.size() == 1 && p_.frame.contains(run[0])) {  // a line of one point is a dot
      draw_marker(canvas_, run[0], Marker::circle, 2 * stroke.width, true, colour_);
      occupied_.push_back(run[0]);
    }
    for (const std::vector<Point>& part : clip_polyline(p_.frame, run)) {
      canvas_.polyline(part, pen(stroke));
      for (std::size_t i = 1; i < part.size(); ++i) {
        const double length = std::hypot(part[i].x - part[i - 1].x, part[i].y - part[i - 1].y);
        for (double at = 0; at <= length; at += 3) {
          const double w = length > 0 ? at / length : 0;
          occupied_.push_back({part[i - 1].x + w * (part[i].x - part[i - 1].x),
                               part[i - 1].y + w * (part[i].y - part[i - 1].y)});
        }
      }
    }
    run.clear();
  }

  /// Cells i, j … j_end - 1 as one rectangle on the page.
  Rect cell_of(const HeatMap& s, std::size_t i, std::size_t j, std::size_t j_end) const {
    const Point a = p_.at(s.x_edge[i], s.y_edge[j]), b = p_.at(s.x_edge[i + 1], s.y_edge[j_end]);
    return clip_rect(p_.frame, {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x),
                                std::abs(a.y - b.y)});
  }

  /// Masked cells under a white veil and hatching that runs on from cell to cell.
  void veil(const HeatMap& s, std::size_t nx, std::size_t ny) {
    std::vector<Rect> veiled;
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t j = 0; j < ny; ++j) {
        if (!s.masked[j * nx + i]) continue;
        std::size_t end = j;
        while (end < ny && s.masked[end * nx + i]) ++end;
        const Rect r = cell_of(s, i, j, end);
        if (r.w > 0 && r.h > 0) veiled.push_back(r);
        j = end;
      }
    if (veiled.empty()) return;
    canvas_.cells(veiled, {1, 1, 1, 0.5});
    constexpr double kPitch = 5;  // of lines x + y = k * pitch, points
    for (const Rect& r : veiled)
      for (double c = std::ceil((r.x + r.y) / kPitch) * kPitch; c <= r.right() + r.bottom();
           c += kPitch) {
        Point a{r.x, c - r.x}, b{r.right(), c - r.right()};
        if (!clip_segment(r, a, b)) continue;
        const std::array<Point, 2> line = {a, b};
        canvas_.polyline(line, {{0.3, 0.3, 0.3, 0.55}, 0.35});
      }
  }

  Canvas& canvas_;
  const PanelLayout& p_;
  std::vector<Point>& occupied_;
  Colour colour_;
  std::size_t dropped_ = 0;
};

}  // namespace

void draw_marker(Canvas& canvas, Point at, Marker marker, double size, bool filled, Colour colour) {
  const double r = size / 2;
  const Pen edge{colour, 0.8};
  const Colour inside = filled ? colour : Colour{1, 1, 1, 1};
  const auto shape = [&](std::initializer_list<Point> corners) {
    std::vector<Point> path;
    for (const Point& c : corners) path.push_back({at.x + c.x * r, at.y + c.y * r});
    canvas.polygon(path, inside);
    if (filled) return;
    path.push_back(path.front());
    path.push_back(path[1]);
    canvas.polyline(path, edge);
  };
  const auto stroke = [&](Point a, Point b) {
    const std::array<Point, 2> line = {Point{at.x + a.x * r, at.y + a.y * r},
                                       {at.x + b.x * r, at.y + b.y * r}};
    canvas.polyline(line, {colour, 1});
  };
  switch (marker) {
    case Marker::circle:
      canvas.ellipse(at, r, r, 0, inside, filled ? nullptr : &edge);
      break;
    case Marker::square:
      shape({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
      break;
    case Marker::diamond:
      shape({{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}});
      break;
    case Marker::triangle:
      shape({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
      break;
    case Marker::triangle_down:
      shape({{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
      break;
    case Marker::cross:
      stroke({-1, -1}, {1, 1}), stroke({-1, 1}, {1, -1});
      break;
    case Marker::plus:
      stroke({-1.2, 0}, {1.2, 0}), stroke({0, -1.2}, {0, 1.2});
      break;
  }
}

void draw_series(Canvas& canvas, const PanelLayout& layout, std::vector<Point>& occupied,
                 PlotReport& report) {
  SeriesPainter painter(canvas, layout, occupied);
  for (std::size_t i = 0; i < layout.panel->series.size(); ++i) {
    painter.start(i);
    std::visit(painter, layout.panel->series[i]);
    if (painter.dropped() == 0) continue;
    report.dropped += painter.dropped();
    report.notes.push_back("panel '" + layout.name + "', series '" +
                           series_label(layout.panel->series[i]) +
                           "': " + std::to_string(painter.dropped()) +
                           " points not drawn: infinite, or not positive on a logarithmic axis");
  }
}

}  // namespace tessera::data::plot
