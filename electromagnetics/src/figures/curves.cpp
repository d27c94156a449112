// SPDX-License-Identifier: Apache-2.0
#include "figures/scaled.h"
#include "tessera/electromagnetics/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::electromagnetics {

using detail::scaled;

namespace {

std::vector<double> taken(const std::vector<double>& v, const std::vector<std::size_t>& order) {
  std::vector<double> out;
  for (const std::size_t k : order) out.push_back(v[k]);
  return out;
}

}  // namespace

data::Figure curves_figure(const CurvesFigure& c) {
  data::Figure f{.width = 360, .height = 220, .title = c.title};
  const ReadableUnit x = readable_unit(c.at, c.axis_unit);
  data::Panel panel{.x = {.label = c.axis, .unit = x.unit, .tight = true}};
  std::vector<std::size_t> order(c.at.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return c.at[a] < c.at[b]; });
  for (const CurvesFigure::Curve& curve : c.curves)
    panel.series.push_back(data::Line{.label = curve.name,
                                      .x = scaled(taken(c.at, order), x.factor),
                                      .y = taken(curve.values, order)});
  panel.y = {.label = c.label, .unit = c.unit == "1" ? "" : c.unit};
  f.panels = {panel};
  return f;
}

data::Figure modes_figure(const std::string& title, const std::vector<double>& f,
                          const std::vector<double>& q) {
  const ReadableUnit unit = readable_unit(f, "Hz");
  data::Points points{.label = title, .x = {}, .y = {}};
  for (std::size_t m = 0; m < f.size(); ++m)
    if (q[m] > 0) points.x.push_back(f[m] * unit.factor), points.y.push_back(q[m]);
  data::Figure figure{.width = 360, .height = 220, .title = title};
  figure.panels = {{.x = {.label = "frequency", .unit = unit.unit},
                    .y = {.label = "Q", .log = true},
                    .series = {points},
                    .legend = data::Legend::none}};
  return figure;
}

data::Figure pattern_figure(const PatternFigure& p) {
  data::Figure f{.width = 360, .height = 220, .title = p.title};
  data::Panel panel{.x = {.label = p.angle, .unit = "°", .step = 45, .tight = true},
                    .y = {.label = p.label, .unit = p.unit == "1" ? "" : p.unit}};
  for (const PatternFigure::Curve& c : p.curves) {
    const ReadableUnit axis = readable_unit({c.frequency_hz}, "Hz");
    panel.series.push_back(
        data::Line{.label = fmt::format("{:.4g} {}", c.frequency_hz * axis.factor, axis.unit),
                   .x = p.angle_deg,
                   .y = c.values});
  }
  f.panels = {panel};
  return f;
}

}  // namespace tessera::electromagnetics
