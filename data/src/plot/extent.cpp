// SPDX-License-Identifier: Apache-2.0
#include "plot/extent.h"

namespace tessera::data::plot {
namespace {

struct Collector {
  const Panel& panel;
  PanelExtent out{};

  void x(double v) { out.x.add(v, panel.x.log); }
  void y(double v) { out.y.add(v, panel.y.log); }
  void c(double v) { out.colour.add(v, panel.colour.axis.log); }
  void along(bool vertical, double v) { vertical ? y(v) : x(v); }
  void across(bool vertical, double v) { vertical ? x(v) : y(v); }

  /// The end of an error bar; on a logarithmic axis it widens the limits by a factor of three at
  /// most.
  static double arm(double v, double length, bool log) {
    if (!log || v <= 0) return v + length;
    return std::clamp(v + length, v / 3, v * 3);
  }

  void operator()(const Line& s) {
    for (std::size_t i = 0; i < s.x.size(); ++i)
      if (!std::isnan(s.x[i]) && !std::isnan(s.y[i])) x(s.x[i]), y(s.y[i]);
  }
  void operator()(const Steps& s) {
    for (const double e : s.edge) along(s.vertical, e);
    for (const double v : s.value) across(s.vertical, v);
  }
  void operator()(const Points& s) {
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (std::isnan(s.x[i]) || std::isnan(s.y[i])) continue;
      x(s.x[i]), y(s.y[i]);
      if (!s.x_minus.empty()) x(arm(s.x[i], -s.x_minus[i], panel.x.log));
      if (!s.x_plus.empty()) x(arm(s.x[i], s.x_plus[i], panel.x.log));
      if (!s.y_minus.empty()) y(arm(s.y[i], -s.y_minus[i], panel.y.log));
      if (!s.y_plus.empty()) y(arm(s.y[i], s.y_plus[i], panel.y.log));
    }
  }
  void operator()(const Band& s) {
    for (const double v : s.at) along(s.vertical, v);
    for (std::size_t i = 0; i < s.low.size(); ++i)
      across(s.vertical, s.low[i]), across(s.vertical, s.high[i]);
  }
  void operator()(const HeatMap& s) {
    for (const double v : s.x_edge) x(v);
    for (const double v : s.y_edge) y(v);
    for (const double v : s.value) c(v);
    out.x.tight = out.y.tight = out.has_colour = true;
  }
  void operator()(const MeshCells& s) {
    for (const std::size_t c : s.corner) x(s.x[c]), y(s.y[c]);
    for (const double v : s.value) c(v);
    out.x.tight = out.y.tight = out.has_colour = true;
  }
  void operator()(const Text& s) {
    if (!s.relative) x(s.x), y(s.y);
  }
  void operator()(const Rule&) {}
  void operator()(const Ellipses& s) {
    for (std::size_t i = 0; i < s.x.size(); ++i) x(s.x[i]), y(s.y[i]);
    for (const double v : s.value) c(v);
    out.has_colour = out.has_colour || !s.value.empty();
  }
  void operator()(const Arrows& s) {
    for (std::size_t i = 0; i < s.x.size(); ++i) x(s.x[i]), y(s.y[i]);
  }
};

}  // namespace

PanelExtent panel_extent(const Panel& panel) {
  Collector collector{panel};
  for (const Series& s : panel.series) std::visit(collector, s);
  for (const TopMark& m : panel.top_marks) collector.x(m.x);
  collector.out.colour.tight = true;
  return collector.out;
}

}  // namespace tessera::data::plot
