// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

constexpr double kShownDb = 40, kRingDb = 10;
const data::Stroke ring_stroke{.colour = data::Colour{0.72, 0.72, 0.72, 1}, .width = 0.6};

/// Where an angle and a distance from the centre are in the panel.
struct Place {
  double x, y;
};
Place place_of(double angle_deg, double radius, bool upright) {
  const double a = angle_deg * std::numbers::pi / 180;
  return upright ? Place{radius * std::sin(a), radius * std::cos(a)}
                 : Place{radius * std::cos(a), radius * std::sin(a)};
}

data::Text mark(const Place& at, std::string text) {
  return {.x = at.x,
          .y = at.y,
          .text = std::move(text),
          .horizontal = data::Align::middle,
          .vertical = data::Align::middle,
          .size = 6,
          .colour = {0.45, 0.45, 0.45, 1}};
}

data::Panel panel_of(const PolarFigure::Panel& p, double top, std::size_t column) {
  data::Panel out{.title = p.title,
                  .column = column,
                  .x = {.min = -1.2, .max = 1.2, .tight = true, .hidden = true},
                  .y = {.min = -1.2, .max = 1.2, .tight = true, .hidden = true},
                  .legend = data::Legend::above,
                  .grid = false};
  for (double db = kRingDb; db <= kShownDb; db += kRingDb) {
    data::Line ring{.label = "", .x = {}, .y = {}, .stroke = ring_stroke};
    for (int a = 0; a <= 360; a += 3) {
      const Place at = place_of(a, db / kShownDb, p.upright);
      ring.x.push_back(at.x), ring.y.push_back(at.y);
    }
    out.series.emplace_back(std::move(ring));
    out.series.emplace_back(mark(place_of(p.upright ? 22 : 68, db / kShownDb, p.upright),
                                 fmt::format("{:g}", top - kShownDb + db)));
  }
  for (int a = 0; a < 360; a += 30) {
    const Place end = place_of(a, 1, p.upright);
    out.series.emplace_back(
        data::Line{.label = "", .x = {0, end.x}, .y = {0, end.y}, .stroke = ring_stroke});
    out.series.emplace_back(mark(place_of(a, 1.1, p.upright), fmt::format("{}°", a)));
  }
  for (std::size_t k = 0; k < p.cuts.size(); ++k) {
    data::Line line{
        .label = p.cuts[k].name, .x = {}, .y = {}, .stroke = {.colour = data::line_colour(k)}};
    for (std::size_t i = 0; i < p.cuts[k].angle_deg.size(); ++i) {
      const double share = 1 - (top - p.cuts[k].db[i]) / kShownDb;
      const Place at =
          place_of(p.cuts[k].angle_deg[i], share > 0 ? share : 0, p.upright);  // a zero is -inf dB
      line.x.push_back(at.x), line.y.push_back(at.y);
    }
    out.series.emplace_back(std::move(line));
  }
  return out;
}

}  // namespace

data::Figure polar_figure(const PolarFigure& f) {
  double most = -INFINITY;
  for (const PolarFigure::Panel& p : f.panels)
    for (const PolarFigure::Cut& c : p.cuts)
      for (const double db : c.db)
        if (std::isfinite(db)) most = std::max(most, db);
  const double top = std::isfinite(most) ? kRingDb / 2 * std::ceil(most / (kRingDb / 2)) : 0;
  data::Figure out{.width = 270.0 * static_cast<double>(std::max<std::size_t>(1, f.panels.size())),
                   .height = 310,
                   .title = f.title,
                   .panels = {}};
  for (std::size_t k = 0; k < f.panels.size(); ++k)
    out.panels.push_back(panel_of(f.panels[k], top, k));
  return out;
}

}  // namespace tessera::electromagnetics
