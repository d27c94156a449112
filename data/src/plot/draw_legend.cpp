// SPDX-License-Identifier: Apache-2.0
#include "plot/draw.h"

#include <array>

namespace tessera::data::plot {
namespace {

/// A sample of the series in kLegendSwatch x kLegendText points, its left middle at `at`.
void swatch(Canvas& canvas, const LegendEntry& e, Point at) {
  const std::array<Point, 2> line = {at, Point{at.x + kLegendSwatch, at.y}};
  const auto stroke = [&](const Stroke& s) { canvas.polyline(line, {e.colour, s.width, s.dash}); };
  if (const auto* s = std::get_if<Line>(e.series))
    stroke(s->stroke);
  else if (const auto* s = std::get_if<Steps>(e.series))
    stroke(s->stroke);
  else if (const auto* s = std::get_if<Rule>(e.series))
    stroke(s->stroke);
  else if (const auto* s = std::get_if<Arrows>(e.series))
    stroke(s->stroke);
  else if (const auto* s = std::get_if<Points>(e.series)) {
    const Point centre{at.x + kLegendSwatch / 2, at.y};
    if (!s->y_minus.empty() || !s->y_plus.empty()) {
      const std::array<Point, 2> bar = {Point{centre.x, at.y - 3.6}, {centre.x, at.y + 3.6}};
      canvas.polyline(bar, {e.colour, 0.8});
    }
    draw_marker(canvas, centre, s->marker, s->size, s->filled, e.colour);
  } else if (const auto* s = std::get_if<Band>(e.series)) {
    const std::array<Point, 4> box = {Point{at.x, at.y - 2.8},
                                      {at.x + kLegendSwatch, at.y - 2.8},
                                      {at.x + kLegendSwatch, at.y + 2.8},
                                      {at.x, at.y + 2.8}};
    canvas.polygon(box, {e.colour.r, e.colour.g, e.colour.b, e.colour.a * s->opacity});
  }
}

void entry(Canvas& canvas, const LegendEntry& e, Point at) {
  swatch(canvas, e, at);
  canvas.text({at.x + kLegendSwatch + 4, at.y + kLegendText * kCapHeight / 2}, e.label,
              {.size = kLegendText});
}

}  // namespace

void draw_legend(Canvas& canvas, const PanelLayout& p, const std::vector<Point>& occupied) {
  if (p.legend.empty() || p.panel->legend == Legend::none) return;
  const Rect& f = p.frame;
  if (p.panel->legend == Legend::above) {
    double x = 0, y = f.y - p.mark_room - p.legend_room + kLegendLine / 2;
    for (const LegendEntry& e : p.legend) {
      const double w = legend_entry_width(e);
      if (x > 0 && x + w > f.w + 1) x = 0, y += kLegendLine;
      entry(canvas, e, {f.x + x, y});
      x += w + 8;
    }
    return;
  }
  constexpr double kInset = 4, kPad = 3.5;
  double w = 0;
  for (const LegendEntry& e : p.legend) w = std::max(w, legend_entry_width(e));
  w += 2 * kPad;
  const double h = kLegendLine * static_cast<double>(p.legend.size()) + 2 * kPad - 2;
  const double xs[] = {f.right() - w - kInset, f.x + kInset, f.x + (f.w - w) / 2};
  const double ys[] = {f.y + kInset, f.bottom() - h - kInset, f.y + (f.h - h) / 2};
  Rect best{};
  std::size_t least = static_cast<std::size_t>(-1);
  for (const double y : ys)
    for (const double x : xs) {
      const Rect box{x, y, w, h}, guarded{x - 2, y - 2, w + 4, h + 4};
      std::size_t hidden = 0;
      for (const Point& o : occupied) hidden += guarded.contains(o);
      if (hidden < least) least = hidden, best = box;
    }
  const std::array<Point, 5> outline = {Point{best.x, best.y},
                                        {best.right(), best.y},
                                        {best.right(), best.bottom()},
                                        {best.x, best.bottom()},
                                        {best.x, best.y}};
  canvas.polygon(outline, {1, 1, 1, 0.85});
  canvas.polyline(outline, {{0.8, 0.8, 0.8, 1}, 0.4});
  for (std::size_t i = 0; i < p.legend.size(); ++i)
    entry(canvas, p.legend[i],
          {best.x + kPad, best.y + kPad - 1 + kLegendLine * (static_cast<double>(i) + 0.5)});
}

}  // namespace tessera::data::plot
