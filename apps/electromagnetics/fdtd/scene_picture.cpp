// SPDX-License-Identifier: Apache-2.0
// The scene as the grid sees it, with sources, monitors and absorbing layers: the picture to look
// at first.
#include "electromagnetics/fdtd/monitor.h"
#include "electromagnetics/fdtd/outlines.h"
#include "tessera/data/plot.h"
#include "tessera/electromagnetics/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

constexpr std::size_t kMostPixels = 400;  ///< along an axis; finer grids are thinned

/// Every n-th line, the last one always.
std::vector<std::size_t> thinned(std::size_t n_cells) {
  const std::size_t stride = (n_cells + kMostPixels - 1) / kMostPixels;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < n_cells; i += stride) out.push_back(i);
  out.push_back(n_cells);
  return out;
}

/// Corners of a box about a point in the plane of the picture: a point, a line or a closed outline.
data::Line outline(const std::string& label, const Point& at, const Point& size, double scale,
                   data::Colour colour) {
  const double x0 = (at[0] - size[0] / 2) * scale, x1 = (at[0] + size[0] / 2) * scale,
               y0 = (at[1] - size[1] / 2) * scale, y1 = (at[1] + size[1] / 2) * scale;
  const data::Stroke stroke{.colour = colour};
  if (x0 == x1 || y0 == y1) return {.label = label, .x = {x0, x1}, .y = {y0, y1}, .stroke = stroke};
  return {.label = label, .x = {x0, x1, x1, x0, x0}, .y = {y0, y0, y1, y1, y0}, .stroke = stroke};
}

}  // namespace

std::vector<std::filesystem::path> draw_scene(const std::filesystem::path& folder, const Case& c) {
  if (!c.grid.resolved(1)) return {};
  const data::RectilinearGrid g =
      electromagnetics::preview(electromagnetics::SceneOrder(c.scene), c.media, c.grid);
  const auto field =
      std::find_if(g.fields.cells.begin(), g.fields.cells.end(),
                   [](const data::FieldArray& f) { return f.name == "permittivity"; });
  const std::vector<double>&x = c.grid.lines[0], &y = c.grid.lines[1], &z = c.grid.lines[2];
  // In 3-D the plane across z through the first source.
  const double height = (*c.options.sources.front().position)[2];
  const auto above =
      static_cast<std::size_t>(std::upper_bound(z.begin(), z.end(), height) - z.begin());
  const std::size_t k = std::clamp<std::size_t>(above, 1, z.size() - 1) - 1, nx = x.size() - 1,
                    ny = y.size() - 1;
  const double widest = std::max(x.back() - x.front(), y.back() - y.front());
  const auto [scale, unit] = widest < 1e-3 ? std::pair(1e6, "µm")
                             : widest < 1  ? std::pair(1e3, "mm")
                                           : std::pair(1.0, "m");
  data::HeatMap map{.label = "", .x_edge = {}, .y_edge = {}, .value = {}};
  const auto across = thinned(nx), up = thinned(ny);
  for (const std::size_t i : across) map.x_edge.push_back(x[i] * scale);
  for (const std::size_t j : up) map.y_edge.push_back(y[j] * scale);
  for (std::size_t j = 0; j + 1 < up.size(); ++j)
    for (std::size_t i = 0; i + 1 < across.size(); ++i) {
      const double eps = field->values[3 * ((k * ny + up[j]) * nx + across[i])];
      map.value.push_back(eps);
      map.masked.push_back(eps == 0);  // a perfect conductor
    }
  data::Panel panel{.x = {.label = "x", .unit = unit, .tight = true},
                    .y = {.label = "y", .unit = unit, .tight = true},
                    .colour = {.axis = {.label = "relative permittivity"}},
                    .series = {map},
                    .legend = data::Legend::above,
                    .grid = false};
  add_outlines(panel, bodies_of(c.options), 2, c.grid.middle(2, static_cast<int>(k)), scale);
  const auto deep = [&](int axis, bool high) {
    return static_cast<std::size_t>(layer_cells(c, axis, high));
  };
  const double left = x[deep(0, false)], right = x[nx - deep(0, true)];
  const double low = y[deep(1, false)], high = y[ny - deep(1, true)];
  data::Line layers = outline("absorbing layers", {(left + right) / 2, (low + high) / 2, 0},
                              {right - left, high - low, 0}, scale, {0.6, 0.6, 0.6, 1});
  layers.stroke.width = 0.8;
  layers.stroke.dash = {3, 2};
  if (right - left < x.back() - x.front() || high - low < y.back() - y.front())
    panel.series.push_back(layers);
  const auto add = [&](const std::string& label, const Point& at, const Point& size,
                       data::Marker marker, data::Colour colour) {
    if (size[0] == 0 && size[1] == 0)
      panel.series.push_back(data::Points{.label = label,
                                          .x = {at[0] * scale},
                                          .y = {at[1] * scale},
                                          .marker = marker,
                                          .colour = colour});
    else
      panel.series.push_back(outline(label, at, size, scale, colour));
  };
  const auto told = [](std::string text, std::size_t i) {
    return text.empty() ? fmt::format("source {}", i) : text;
  };
  for (std::size_t s = 0; s < std::min<std::size_t>(c.options.sources.size(), 4); ++s) {
    const SourceOptions& o = c.options.sources[s];
    if (o.kind != SourceKind::plane_wave || o.size)
      add(told(o.name, s), *o.position, o.size.value_or(Point{}), data::Marker::cross,
          {0.95, 0.25, 0.15, 1});
  }
  for (std::size_t m = 0; m < std::min<std::size_t>(c.options.monitors.size(), 6); ++m) {
    const MonitorOptions& o = c.options.monitors[m];
    if (o.kind != MonitorKind::ldos &&
        (o.size || (o.kind != MonitorKind::energy && o.kind != MonitorKind::snapshot)))
      add(o.name, *o.position, o.size.value_or(Point{}), data::Marker::circle,
          data::line_colour(m + 1));  // the first is black, as is much of the map
  }
  const double wide = x.back() - x.front(), tall = y.back() - y.front();
  data::Figure f{.width = 380,
                 .height = std::clamp(110 + 250 * tall / wide, 160.0, 560.0),
                 .title = c.options.title};
  f.panels = {panel};
  std::filesystem::create_directories(folder);
  std::vector<std::filesystem::path> out;
  for (const char* extension : {".png", ".svg"}) {
    out.push_back(folder / (std::string("scene") + extension));
    data::save(f, out.back());
  }
  return out;
}

}  // namespace tessera::apps::fdtd
