// SPDX-License-Identifier: Apache-2.0
// Labels need room, the room left decides how many ticks fit, and the ticks decide the labels: a
// few rounds settle it.
#include "plot/layout.h"

#include "plot/extent.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <map>

namespace tessera::data::plot {
namespace {

constexpr double kLeastFrame = 24;  // points; a smaller panel shows nothing

Ticks ticks_for(const Scale& s, int n, double step) {
  return s.log ? log_ticks(s.lo, s.hi, n) : linear_ticks(s.lo, s.hi, n, step);
}

/// The most ticks whose labels, `extent(label)` long along the axis, keep `gap` between them.
template <class Extent>
Ticks fitting_ticks(const Scale& s, double length, double step, double least_pitch, double gap,
                    Extent extent) {
  Ticks ticks;
  for (int n = std::max(3, static_cast<int>(length / least_pitch)); n >= 2; --n) {
    ticks = ticks_for(s, n, step);
    bool fits = true;
    for (std::size_t i = 1; i < ticks.major.size() && fits; ++i) {
      const double apart =
          std::abs(s.fraction(ticks.major[i].value) - s.fraction(ticks.major[i - 1].value)) *
          length;
      fits = apart >= (extent(ticks.major[i].label) + extent(ticks.major[i - 1].label)) / 2 + gap;
    }
    if (fits) return ticks;
  }
  double free_from = -1e9;  // even two do not fit: keep the labels that do, the tick marks stay
  for (Tick& t : ticks.major) {
    const double half = extent(t.label) / 2,
                 at = (s.reversed ? 1 - s.fraction(t.value) : s.fraction(t.value)) * length;
    if (at - half < free_from)
      t.label.clear();
    else
      free_from = at + half + gap;
  }
  return ticks;
}

double widest(const Ticks& ticks) {
  double w = 0;
  for (const Tick& t : ticks.major) w = std::max(w, text_width(t.label, kTickText));
  return w;
}

void place_ticks(PanelLayout& p) {
  const Panel& panel = *p.panel;
  const auto width = [](const std::string& label) { return text_width(label, kTickText); };
  const auto height = [](const std::string& label) {
    return label.empty() ? 0 : kTickText * kCapHeight;
  };
  p.x_ticks = p.y_ticks = p.colour_ticks = {};
  if (!panel.x.hidden) p.x_ticks = fitting_ticks(p.x, p.frame.w, panel.x.step, 22, 9, width);
  if (!panel.y.hidden) p.y_ticks = fitting_ticks(p.y, p.frame.h, panel.y.step, 15, 4, height);
  if (p.has_colour && panel.colour.bar)
    p.colour_ticks = fitting_ticks(p.colour, p.frame.h, panel.colour.axis.step, 22, 4, height);
}

/// Station names: level where they fit, else upright, else only those that do not touch.
void place_marks(PanelLayout& p) {
  p.marks.clear();
  p.mark_room = 0;
  p.marks_upright = false;
  for (const TopMark& m : p.panel->top_marks) {
    if (!p.x.usable(m.x)) continue;
    const double t = p.x.fraction(m.x);
    if (t >= 0 && t <= 1) p.marks.push_back({p.frame.x + t * p.frame.w, m.label});
  }
  if (p.marks.empty()) return;
  std::stable_sort(p.marks.begin(), p.marks.end(),
                   [](const PlacedMark& a, const PlacedMark& b) { return a.x < b.x; });
  double longest = 0;
  for (std::size_t i = 0; i < p.marks.size(); ++i) {
    const double w = text_width(p.marks[i].label, kMarkText);
    longest = std::max(longest, w);
    if (i &&
        p.marks[i].x - p.marks[i - 1].x < (w + text_width(p.marks[i - 1].label, kMarkText)) / 2 + 4)
      p.marks_upright = true;
  }
  if (p.marks_upright) {
    double free_from = -1e9;
    for (PlacedMark& m : p.marks) {
      if (m.x < free_from)
        m.label.clear();
      else
        free_from = m.x + kMarkText * 0.95;
    }
  }
  p.mark_room = 5 + (longest > 0 ? 2.5 + (p.marks_upright ? longest : kMarkText) : 0);
}

void place_legend(PanelLayout& p) {
  p.legend_room = 0;
  if (p.panel->legend != Legend::above || p.legend.empty()) return;
  double x = 0;
  int lines = 1;
  for (const LegendEntry& e : p.legend) {
    const double w = legend_entry_width(e);
    if (x > 0 && x + w > p.frame.w + 1) x = 0, ++lines;
    x += w + 8;
  }
  p.legend_room = lines * kLegendLine + 3;
}

void measure_margins(PanelLayout& p) {
  const Panel& panel = *p.panel;
  p.left = kTick;
  if (p.y_labels) {
    p.left += kTickGap + widest(p.y_ticks);
    if (!axis_title(panel.y, p.y_ticks.exponent).empty()) p.left += kLabelGap + kLabelText;
  }
  p.bottom = kTick;
  p.right = 1;
  if (p.x_labels) {
    p.bottom += kTickGap + kTickText;
    if (!axis_title(panel.x, p.x_ticks.exponent).empty()) p.bottom += kLabelGap + kLabelText;
    for (const Tick& t : p.x_ticks.major) {
      const double half = text_width(t.label, kTickText) / 2,
                   at = p.x.fraction(t.value) * p.frame.w;
      p.right = std::max(p.right, at + half - p.frame.w);
      p.left = std::max(p.left, half - at);
    }
  }
  if (p.has_colour && panel.colour.bar) {
    double bar = kBarGap + kBarWidth + kTick + kTickGap + widest(p.colour_ticks);
    if (!axis_title(panel.colour.axis, p.colour_ticks.exponent).empty())
      bar += kLabelGap + kLabelText;
    p.right = std::max(p.right, bar);
  }
  p.top = 1 + p.mark_room + p.legend_room +
          (panel.title.empty() ? (p.y_labels ? kTickText / 2 : 0) : kTitleText + 4);
  if (!p.marks.empty() && !p.marks_upright) {
    p.left = std::max(
        p.left, text_width(p.marks.front().label, kMarkText) / 2 - (p.marks.front().x - p.frame.x));
    p.right = std::max(p.right, text_width(p.marks.back().label, kMarkText) / 2 -
                                    (p.frame.right() - p.marks.back().x));
  }
}

/// Shares `total` among `n` grid lines by weight, after the margins before and after each are taken
/// off.
struct Lines {
  std::vector<double> start, size;
};

Lines share(double origin, double total, const std::vector<double>& before,
            const std::vector<double>& after, const std::vector<double>& weight, const char* what) {
  const std::size_t n = before.size();
  double taken = kPanelGap * static_cast<double>(n - 1), sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    taken += before[i] + after[i];
    sum += i < weight.size() ? weight[i] : 1;
  }
  Lines lines;
  double at = origin;
  for (std::size_t i = 0; i < n; ++i) {
    const double w = i < weight.size() ? weight[i] : 1;
    if (!(w > 0 && std::isfinite(w)))
      throw Error(std::string("[plot] ") + what + " weights must be positive");
    const double size = (total - taken) * w / sum;
    if (!(size >= kLeastFrame))
      throw Error(std::string("[plot] the figure is too small: the panels' ") + what +
                  " would be " + std::to_string(size) + " points, expected at least " +
                  std::to_string(kLeastFrame));
    at += before[i];
    lines.start.push_back(at);
    lines.size.push_back(size);
    at += size + after[i] + kPanelGap;
  }
  return lines;
}

void place_frames(const Figure& figure, std::vector<PanelLayout>& panels) {
  std::size_t rows = 1, columns = 1;
  for (const Panel& p : figure.panels) {
    rows = std::max(rows, p.row + p.row_span);
    columns = std::max(columns, p.column + p.column_span);
  }
  std::vector<double> left(columns), right(columns), top(rows), bottom(rows);
  for (const PanelLayout& l : panels) {
    const Panel& p = *l.panel;
    const auto most = [](double& room, double need) { room = std::max(room, need); };
    most(left[p.column], l.left);
    most(right[p.column + p.column_span - 1], l.right);
    most(top[p.row], l.top);
    most(bottom[p.row + p.row_span - 1], l.bottom);
  }
  double head = kPageMargin;
  if (!figure.title.empty()) head += kFigureTitle + 3;
  if (!figure.subtitle.empty()) head += kSubtitle + 3;
  if (head > kPageMargin) head += 4;
  const Lines x = share(kPageMargin, figure.width - 2 * kPageMargin, left, right,
                        figure.column_weight, "width");
  const Lines y =
      share(head, figure.height - head - kPageMargin, top, bottom, figure.row_weight, "height");
  for (PanelLayout& l : panels) {
    const Panel& p = *l.panel;
    const std::size_t c = p.column + p.column_span - 1, r = p.row + p.row_span - 1;
    l.frame = {x.start[p.column], y.start[p.row], x.start[c] + x.size[c] - x.start[p.column],
               y.start[r] + y.size[r] - y.start[p.row]};
  }
}

/// Limits, shared within groups. The first axis of a group that gives a limit sets it for all.
void settle_scales(std::vector<PanelLayout>& panels) {
  struct Shared {
    Extent extent;
    std::optional<double> min, max;
  };
  std::map<std::string, Shared> groups[3];
  std::vector<PanelExtent> extents;
  const auto axis_of = [](const PanelLayout& l, int k) -> const Axis& {
    return k == 0 ? l.panel->x : k == 1 ? l.panel->y : l.panel->colour.axis;
  };
  const auto extent_of = [](const PanelExtent& e, int k) -> const Extent& {
    return k == 0 ? e.x : k == 1 ? e.y : e.colour;
  };
  for (const PanelLayout& l : panels) {
    extents.push_back(panel_extent(*l.panel));
    for (int k = 0; k < 3; ++k) {
      const Axis& a = axis_of(l, k);
      if (a.group.empty()) continue;
      Shared& g = groups[k][a.group];
      g.extent.add(extent_of(extents.back(), k));
      if (!g.min) g.min = a.min;
      if (!g.max) g.max = a.max;
    }
  }
  static constexpr const char* kNames[] = {"x axis", "y axis", "colour axis"};
  for (std::size_t i = 0; i < panels.size(); ++i) {
    PanelLayout& l = panels[i];
    l.has_colour = extents[i].has_colour;
    for (int k = 0; k < 3; ++k) {
      Axis a = axis_of(l, k);
      Extent e = extent_of(extents[i], k);
      if (!a.group.empty()) {
        const Shared& g = groups[k].at(a.group);
        e = g.extent, a.min = g.min, a.max = g.max;
      }
      (k == 0   ? l.x
       : k == 1 ? l.y
                : l.colour) = make_scale(a, e, "panel '" + l.name + "', " + kNames[k]);
    }
  }
}

void settle_labels(std::vector<PanelLayout>& panels) {
  for (PanelLayout& l : panels) {
    l.x_labels = !l.panel->x.hidden;
    l.y_labels = !l.panel->y.hidden;
    for (const PanelLayout& other : panels) {
      const Panel &p = *l.panel, &q = *other.panel;
      if (!p.x.group.empty() && p.x.group == q.x.group && p.column == q.column &&
          p.column_span == q.column_span && q.row > p.row)
        l.x_labels = false;
      if (!p.y.group.empty() && p.y.group == q.y.group && p.row == q.row &&
          p.row_span == q.row_span && q.column < p.column)
        l.y_labels = false;
    }
  }
}

void settle_colours(PanelLayout& l) {
  std::size_t next = 0;
  for (const Series& s : l.panel->series) {
    std::optional<Colour> given;
    bool counts = true, in_legend = true;
    if (const auto* line = std::get_if<Line>(&s))
      given = line->stroke.colour;
    else if (const auto* steps = std::get_if<Steps>(&s))
      given = steps->stroke.colour;
    else if (const auto* points = std::get_if<Points>(&s))
      given = points->colour;
    else if (const auto* band = std::get_if<Band>(&s))
      given = band->colour;
    else if (const auto* rule = std::get_if<Rule>(&s))
      given = rule->stroke.colour, in_legend = !rule->label_on_line;
    else
      counts = in_legend = false;
    l.series_colour.push_back(given    ? *given
                              : counts ? line_colour(next)
                                       : Colour{0.5, 0.5, 0.5, 1});
    next += counts && !given;
    const std::string& label = series_label(s);
    const bool known = std::any_of(l.legend.begin(), l.legend.end(),
                                   [&](const LegendEntry& e) { return e.label == label; });
    if (!label.empty() && !known && in_legend)
      l.legend.push_back({label, &s, l.series_colour.back()});
  }
}

}  // namespace

std::string axis_title(const Axis& axis, int exponent) {
  std::string in;
  if (exponent)
    in = "×10^{" + std::string(exponent < 0 ? "\u2212" : "") + std::to_string(std::abs(exponent)) +
         "}";
  if (!axis.unit.empty()) in += (in.empty() ? "" : " ") + axis.unit;
  if (in.empty()) return axis.label;
  return axis.label + (axis.label.empty() ? "(" : " (") + in + ")";
}

double legend_entry_width(const LegendEntry& e) {
  return kLegendSwatch + 4 + text_width(e.label, kLegendText);
}

std::vector<PanelLayout> lay_out(const Figure& figure) {
  check_sizes(figure);
  std::vector<PanelLayout> panels;
  for (const Panel& p : figure.panels) {
    panels.emplace_back();
    panels.back().panel = &p;
    panels.back().name = panel_name(p);
    panels.back().frame = {0, 0, figure.width / 2, figure.height / 2};
    settle_colours(panels.back());
  }
  settle_scales(panels);
  settle_labels(panels);
  for (int round = 0; round < 4; ++round) {
    for (PanelLayout& p : panels) {
      place_ticks(p);
      place_marks(p);
      place_legend(p);
      measure_margins(p);
    }
    place_frames(figure, panels);
  }
  for (PanelLayout& p : panels) {
    place_ticks(p);
    place_marks(p);
  }
  return panels;
}

}  // namespace tessera::data::plot
