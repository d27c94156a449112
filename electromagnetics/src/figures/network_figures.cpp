// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/network_figures.h"

#include "figures/scaled.h"
#include "tessera/electromagnetics/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
constexpr double kLeastDb = -100;

const data::Stroke thin{.colour = data::Colour{0.72, 0.72, 0.72, 1}, .width = 0.6};

data::Stroke stroke_of(const NetworkFigure::Curve& c, std::size_t number) {
  data::Stroke s{.colour = data::line_colour(number)};
  if (c.compared) s.dash = {4, 2.5};
  return s;
}

/// The part in the unit disc of a circle about (x, y).
data::Line circle(double x, double y, double radius) {
  data::Line line{.label = "", .x = {}, .y = {}, .stroke = thin};
  constexpr int n = 720;
  for (int k = 0; k <= n; ++k) {
    const double u = x + radius * std::cos(2 * pi * k / n),
                 v = y + radius * std::sin(2 * pi * k / n);
    const bool inside = u * u + v * v <= 1 + 1e-9;
    line.x.push_back(inside ? u : NAN);
    line.y.push_back(inside ? v : NAN);
  }
  return line;
}

data::Text label(double x, double y, std::string text) {
  return {.x = x,
          .y = y,
          .text = std::move(text),
          .horizontal = data::Align::middle,
          .vertical = data::Align::middle,
          .size = 6,
          .colour = {0.45, 0.45, 0.45, 1}};
}

}  // namespace

data::Figure magnitude_and_phase_figure(const NetworkFigure& n) {
  std::vector<double> all;
  for (const NetworkFigure::Curve& c : n.curves)
    all.insert(all.end(), c.frequency_hz.begin(), c.frequency_hz.end());
  const ReadableUnit x = readable_unit(all, "Hz");
  data::Panel size{.row = 0,
                   .x = {.label = "frequency", .unit = x.unit, .tight = true, .group = "f"},
                   .y = {.label = "|S|", .unit = "dB"},
                   .legend = data::Legend::above};
  data::Panel phase{.row = 1,
                    .x = size.x,
                    .y = {.label = "phase", .unit = "°", .min = -180, .max = 180, .step = 90},
                    .legend = data::Legend::none};
  for (std::size_t k = 0; k < n.curves.size(); ++k) {
    const NetworkFigure::Curve& c = n.curves[k];
    const std::vector<double> f = detail::scaled(c.frequency_hz, x.factor);
    std::vector<double> db, angle;
    for (const std::complex<double>& s : c.values) {
      db.push_back(std::max(20 * std::log10(std::abs(s)), kLeastDb));
      angle.push_back(std::arg(s) * 180 / pi);
    }
    size.series.push_back(
        data::Line{.label = c.name, .x = f, .y = std::move(db), .stroke = stroke_of(c, k)});
    // Broken where it goes round.
    data::Line turns{.label = c.name, .x = {}, .y = {}, .stroke = stroke_of(c, k)};
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (i > 0 && std::abs(angle[i] - angle[i - 1]) > 180)
        turns.x.push_back(f[i]), turns.y.push_back(NAN);
      turns.x.push_back(f[i]), turns.y.push_back(angle[i]);
    }
    phase.series.push_back(std::move(turns));
  }
  return {.width = 400, .height = 330, .title = n.title, .panels = {size, phase}};
}

data::Figure smith_figure(const NetworkFigure& n) {
  data::Panel chart{.x = {.min = -1.12, .max = 1.12, .tight = true, .hidden = true},
                    .y = {.min = -1.12, .max = 1.12, .tight = true, .hidden = true},
                    .legend = data::Legend::above,
                    .grid = false};
  chart.series.push_back(circle(0, 0, 1));
  chart.series.push_back(data::Line{.label = "", .x = {-1, 1}, .y = {0, 0}, .stroke = thin});
  for (const double z : {0.2, 0.5, 1.0, 2.0, 5.0}) {
    chart.series.push_back(circle(z / (1 + z), 0, 1 / (1 + z)));
    for (const int sign : {1, -1}) {
      chart.series.push_back(circle(1, sign / z, 1 / z));
      const std::complex<double> end =
          std::complex<double>(-1, sign * z) / std::complex<double>(1, sign * z);
      chart.series.push_back(
          label(1.07 * end.real(), 1.07 * end.imag(), fmt::format("{}{}", sign < 0 ? "-" : "", z)));
    }
    chart.series.push_back(label((z - 1) / (z + 1) - 0.03, -0.035, fmt::format("{}", z)));
  }
  for (std::size_t k = 0; k < n.curves.size(); ++k) {
    const NetworkFigure::Curve& c = n.curves[k];
    data::Line line{.label = c.name, .x = {}, .y = {}, .stroke = stroke_of(c, k)};
    for (const std::complex<double>& s : c.values)
      line.x.push_back(s.real()), line.y.push_back(s.imag());
    const auto known = [](const std::complex<double>& s) { return !std::isnan(s.real()); };
    const auto first = std::find_if(c.values.begin(), c.values.end(), known);
    if (first != c.values.end() && !c.compared)
      for (const bool last : {false, true}) {
        const std::complex<double> s =
            last ? *std::find_if(c.values.rbegin(), c.values.rend(), known) : *first;
        chart.series.push_back(
            data::Points{.label = "",
                         .x = {s.real()},
                         .y = {s.imag()},
                         .marker = last ? data::Marker::triangle : data::Marker::circle,
                         .size = 3,
                         .colour = data::line_colour(k)});
      }
    chart.series.push_back(std::move(line));
  }
  return {.width = 300, .height = 320, .title = n.title, .panels = {chart}};
}

}  // namespace tessera::electromagnetics
