// SPDX-License-Identifier: Apache-2.0
#include "plot/draw.h"

#include <array>

namespace tessera::data::plot {
namespace {

constexpr Colour kInk{0.13, 0.13, 0.13, 1}, kGrid{0.9, 0.9, 0.9, 1};
constexpr double kFrameWidth = 0.6;

void segment(Canvas& canvas, Point a, Point b, const Pen& pen) {
  const std::array<Point, 2> line = {a, b};
  canvas.polyline(line, pen);
}

/// The text in its style, made smaller where it is longer than `room`.
TextStyle fit(const std::string& text, TextStyle style, double room) {
  const double width = text_width(text, style.size, style.bold);
  if (width > room) style.size = std::max(style.size * room / width, 0.6 * style.size);
  return style;
}

void colour_bar(Canvas& canvas, const PanelLayout& p) {
  const Rect bar{p.frame.right() + kBarGap, p.frame.y, kBarWidth, p.frame.h};
  constexpr int kSteps = 128;
  for (int i = 0; i < kSteps; ++i) {
    const double t = (i + 0.5) / kSteps;
    const Rect cell{bar.x, bar.bottom() - bar.h * (i + 1) / kSteps, bar.w, bar.h / kSteps};
    canvas.cells({&cell, 1}, colour_at(p.panel->colour.map, t));
  }
  const std::array<Point, 5> outline = {Point{bar.x, bar.y},
                                        {bar.right(), bar.y},
                                        {bar.right(), bar.bottom()},
                                        {bar.x, bar.bottom()},
                                        {bar.x, bar.y}};
  canvas.polyline(outline, {kInk, kFrameWidth});
  const auto y_of = [&](double v) { return bar.bottom() - p.colour.fraction(v) * bar.h; };
  double widest = 0;
  for (const double v : p.colour_ticks.minor)
    segment(canvas, {bar.right(), y_of(v)}, {bar.right() + kMinorTick, y_of(v)}, {kInk, 0.4});
  for (const Tick& t : p.colour_ticks.major) {
    const double y = y_of(t.value);
    segment(canvas, {bar.right(), y}, {bar.right() + kTick, y}, {kInk, kFrameWidth});
    canvas.text({bar.right() + kTick + kTickGap, y + kTickText * kCapHeight / 2}, t.label,
                {.size = kTickText, .colour = kInk});
    widest = std::max(widest, text_width(t.label, kTickText));
  }
  const std::string title = axis_title(p.panel->colour.axis, p.colour_ticks.exponent);
  if (title.empty()) return;
  const double x = bar.right() + kTick + kTickGap + widest + kLabelGap + kLabelText * kCapHeight;
  canvas.text(
      {x, bar.y + bar.h / 2}, title,
      fit(title, {.size = kLabelText, .colour = kInk, .align = Align::middle, .degrees = -90},
          bar.h + 12));
}

void axis_ticks(Canvas& canvas, const PanelLayout& p) {
  const Rect& f = p.frame;
  const auto x_of = [&](double v) { return f.x + p.x.fraction(v) * f.w; };
  const auto y_of = [&](double v) { return f.bottom() - p.y.fraction(v) * f.h; };
  for (const double v : p.x_ticks.minor)
    segment(canvas, {x_of(v), f.bottom()}, {x_of(v), f.bottom() + kMinorTick}, {kInk, 0.4});
  for (const double v : p.y_ticks.minor)
    segment(canvas, {f.x - kMinorTick, y_of(v)}, {f.x, y_of(v)}, {kInk, 0.4});
  for (const Tick& t : p.x_ticks.major) {
    segment(canvas, {x_of(t.value), f.bottom()}, {x_of(t.value), f.bottom() + kTick},
            {kInk, kFrameWidth});
    if (p.x_labels && !t.label.empty())
      canvas.text({x_of(t.value), f.bottom() + kTick + kTickGap + kTickText * 0.85}, t.label,
                  {.size = kTickText, .colour = kInk, .align = Align::middle});
  }
  double widest = 0;
  for (const Tick& t : p.y_ticks.major) {
    segment(canvas, {f.x - kTick, y_of(t.value)}, {f.x, y_of(t.value)}, {kInk, kFrameWidth});
    if (!p.y_labels || t.label.empty()) continue;
    canvas.text({f.x - kTick - kTickGap, y_of(t.value) + kTickText * kCapHeight / 2}, t.label,
                {.size = kTickText, .colour = kInk, .align = Align::high});
    widest = std::max(widest, text_width(t.label, kTickText));
  }
  if (const std::string title = axis_title(p.panel->x, p.x_ticks.exponent);
      p.x_labels && !title.empty())
    canvas.text(
        {f.x + f.w / 2, f.bottom() + kTick + kTickGap + kTickText + kLabelGap + kLabelText * 0.75},
        title, fit(title, {.size = kLabelText, .colour = kInk, .align = Align::middle}, f.w + 30));
  if (const std::string title = axis_title(p.panel->y, p.y_ticks.exponent);
      p.y_labels && !title.empty())
    canvas.text(
        {f.x - kTick - kTickGap - widest - kLabelGap, f.y + f.h / 2}, title,
        fit(title, {.size = kLabelText, .colour = kInk, .align = Align::middle, .degrees = -90},
            f.h + 12));
}

void top_marks(Canvas& canvas, const PanelLayout& p) {
  for (const PlacedMark& m : p.marks) {
    draw_marker(canvas, {m.x, p.frame.y - 2.6}, Marker::triangle_down, 4.2, true, kInk);
    if (m.label.empty()) continue;
    if (p.marks_upright)
      canvas.text({m.x + kMarkText * kCapHeight / 2, p.frame.y - 7.5}, m.label,
                  {.size = kMarkText, .colour = kInk, .degrees = -90});
    else
      canvas.text({m.x, p.frame.y - 7.5}, m.label,
                  {.size = kMarkText, .colour = kInk, .align = Align::middle});
  }
}

}  // namespace

void draw_grid(Canvas& canvas, const PanelLayout& p) {
  if (!p.panel->grid) return;
  const Rect& f = p.frame;
  for (const Tick& t : p.x_ticks.major) {
    const double x = f.x + p.x.fraction(t.value) * f.w;
    segment(canvas, {x, f.y}, {x, f.bottom()}, {kGrid, 0.5});
  }
  for (const Tick& t : p.y_ticks.major) {
    const double y = f.bottom() - p.y.fraction(t.value) * f.h;
    segment(canvas, {f.x, y}, {f.right(), y}, {kGrid, 0.5});
  }
}

void draw_frame(Canvas& canvas, const PanelLayout& p) {
  const Rect& f = p.frame;
  const std::array<Point, 5> outline = {
      Point{f.x, f.y}, {f.right(), f.y}, {f.right(), f.bottom()}, {f.x, f.bottom()}, {f.x, f.y}};
  canvas.polyline(outline, {kInk, kFrameWidth});
  axis_ticks(canvas, p);
  top_marks(canvas, p);
  if (p.has_colour && p.panel->colour.bar) colour_bar(canvas, p);
  if (!p.panel->title.empty())
    canvas.text(
        {f.x, f.y - p.mark_room - p.legend_room - 4}, p.panel->title,
        fit(p.panel->title, {.size = kTitleText, .colour = kInk, .bold = true}, f.w + p.right));
}

}  // namespace tessera::data::plot
