// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/figures.h"
#include "tessera/electromagnetics/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::electromagnetics {
namespace {

constexpr std::size_t most_pixels = 400;  ///< along an axis; finer grids are thinned

/// Every n-th line, the last one always.
std::vector<std::size_t> thinned(std::size_t n_cells) {
  const std::size_t stride = (n_cells + most_pixels - 1) / most_pixels;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < n_cells; i += stride) out.push_back(i);
  out.push_back(n_cells);
  return out;
}

/// A cut across `axis`: which axes its picture has.
struct Cut {
  std::size_t axis, across, up;
};

/// Corners of a box about a point in the plane of the cut: a point, a line or a closed outline.
data::Line rectangle(const std::string& label, const Cut& cut, const Point& at, const Point& size,
                     double scale, data::Colour colour) {
  const double x0 = (at[cut.across] - size[cut.across] / 2) * scale,
               x1 = (at[cut.across] + size[cut.across] / 2) * scale,
               y0 = (at[cut.up] - size[cut.up] / 2) * scale,
               y1 = (at[cut.up] + size[cut.up] / 2) * scale;
  const data::Stroke stroke{.colour = colour};
  if (x0 == x1 || y0 == y1) return {.label = label, .x = {x0, x1}, .y = {y0, y1}, .stroke = stroke};
  return {.label = label, .x = {x0, x1, x1, x0, x0}, .y = {y0, y0, y1, y1, y0}, .stroke = stroke};
}

/// Lines between cells, across the picture from one side to the other.
data::Line lines_between(const std::vector<double>& at, double from, double to, bool upright,
                         double scale) {
  data::Line out{.label = "",
                 .x = {},
                 .y = {},
                 .stroke = {.colour = data::Colour{0.6, 0.6, 0.6, 0.8}, .width = 0.3}};
  for (const double a : at) {
    for (const double b : {from, to})
      out.x.push_back((upright ? a : b) * scale), out.y.push_back((upright ? b : a) * scale);
    out.x.push_back(NAN), out.y.push_back(NAN);
  }
  return out;
}

/// The cell of an axis that holds a position, the nearest one outside.
std::size_t cell_at(const std::vector<double>& lines, double position) {
  const auto above = static_cast<std::size_t>(
      std::upper_bound(lines.begin(), lines.end(), position) - lines.begin());
  return std::clamp<std::size_t>(above, 1, lines.size() - 1) - 1;
}

struct SceneCuts {
  const SceneFigure& figure;
  const Scene& scene;
  const std::vector<Medium>& media;
  const YeeGrid& grid;
  const SceneOrder& bodies;
  double scale;
  std::string unit;

  double extent(std::size_t axis) const {
    return grid.lines[axis].back() - grid.lines[axis].front();
  }

  std::string label() const {
    const double f = figure.frequency_hz;
    if (!(f > 0)) return "relative permittivity at infinite frequency";
    const ReadableUnit in = readable_unit({f}, "Hz");
    return fmt::format("relative permittivity at {:.4g} {}", f * in.factor, in.unit);
  }

  data::HeatMap map_of(const Cut& cut, std::size_t cell) const {
    YeeGrid layer = grid;
    layer.lines[cut.axis] = {grid.lines[cut.axis][cell], grid.lines[cut.axis][cell + 1]};
    layer.one_cell_period[cut.axis] = grid.resolved(static_cast<int>(cut.axis));
    const data::RectilinearGrid g =
        preview(SceneOrder(scene), media, layer, {}, figure.frequency_hz);
    const auto field =
        std::find_if(g.fields.cells.begin(), g.fields.cells.end(),
                     [](const data::FieldArray& f) { return f.name == "permittivity"; });
    const std::vector<double>&x = grid.lines[cut.across], &y = grid.lines[cut.up];
    std::array<std::size_t, 3> stride{1, layer.lines[0].size() - 1,
                                      (layer.lines[0].size() - 1) * (layer.lines[1].size() - 1)};
    data::HeatMap map{.label = "", .x_edge = {}, .y_edge = {}, .value = {}};
    const auto across = thinned(x.size() - 1), up = thinned(y.size() - 1);
    for (const std::size_t i : across) map.x_edge.push_back(x[i] * scale);
    for (const std::size_t j : up) map.y_edge.push_back(y[j] * scale);
    for (std::size_t j = 0; j + 1 < up.size(); ++j)
      for (std::size_t i = 0; i + 1 < across.size(); ++i) {
        const double eps =
            field->values[3 * (up[j] * stride[cut.up] + across[i] * stride[cut.across])];
        map.value.push_back(eps);
        map.masked.push_back(eps == 0);  // a perfect conductor
      }
    return map;
  }

  data::Panel panel_of(const Cut& cut) const {
    static constexpr const char* names[] = {"x", "y", "z"};
    const std::size_t cell = cell_at(grid.lines[cut.axis], figure.through[cut.axis]);
    data::Panel panel{.x = {.label = names[cut.across], .unit = unit, .tight = true},
                      .y = {.label = names[cut.up], .unit = unit, .tight = true},
                      .colour = {.axis = {.label = label()}},
                      .series = {map_of(cut, cell)},
                      .legend = data::Legend::above,
                      .grid = false};
    add_outlines(panel, bodies, static_cast<int>(cut.axis),
                 grid.middle(static_cast<int>(cut.axis), static_cast<int>(cell)), scale);
    if (figure.grid_lines) {
      const std::vector<double>&u = grid.lines[cut.across], &v = grid.lines[cut.up];
      panel.series.push_back(lines_between(u, v.front(), v.back(), true, scale));
      panel.series.push_back(lines_between(v, u.front(), u.back(), false, scale));
    }
    Point at{}, size{};
    bool layered = false;
    for (const std::size_t d : {cut.across, cut.up}) {
      const std::vector<double>& line = grid.lines[d];
      const auto [first, last] = figure.layers[d];
      const double low = line[static_cast<std::size_t>(first)],
                   high = line[line.size() - 1 - static_cast<std::size_t>(last)];
      at[d] = (low + high) / 2, size[d] = high - low;
      layered = layered || high - low < extent(d);
    }
    data::Line layers = rectangle("absorbing layers", cut, at, size, scale, {0.6, 0.6, 0.6, 1});
    layers.stroke.width = 0.8;
    layers.stroke.dash = {3, 2};
    if (layered) panel.series.push_back(layers);
    for (const SceneFigure::Mark& m : figure.marks)
      if (m.size[cut.across] == 0 && m.size[cut.up] == 0)
        panel.series.push_back(data::Points{.label = m.name,
                                            .x = {m.at[cut.across] * scale},
                                            .y = {m.at[cut.up] * scale},
                                            .marker = m.marker,
                                            .colour = m.colour});
      else
        panel.series.push_back(rectangle(m.name, cut, m.at, m.size, scale, m.colour));
    return panel;
  }
};

/// One legend and one bar of colours, of the first panel, for all. Metals would take the colours
/// from all else: these end as far below zero as the largest lies above it.
void share_keys(std::vector<data::Panel>& panels) {
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const data::Panel& p : panels) {
    const auto& map = std::get<data::HeatMap>(p.series.front());
    for (std::size_t n = 0; n < map.value.size(); ++n)
      if (!map.masked[n])
        least = std::min(least, map.value[n]), most = std::max(most, map.value[n]);
  }
  if (most > 0 && least < -most) {
    panels.front().colour.axis.label += fmt::format(" (to {:.3g})", least);
    least = -most;
  }
  for (std::size_t p = 0; p < panels.size(); ++p) {
    if (least < most) panels[p].colour.axis.min = least, panels[p].colour.axis.max = most;
    if (p == 0) continue;
    panels[p].colour.bar = false;
    panels[p].legend = data::Legend::none;
  }
}

/// One panel about to scale, between a frame that has room for the label of its colours and one
/// that fills a page: what stands around the frame is the texts' sizes (data/src/plot/layout.h),
/// within a few points.
void size_to_scale(data::Figure& f, double wide, double tall) {
  constexpr double usual = 285, low = 125, high = 450, long_side = 640, narrow = 120;
  double across = usual, up = usual * tall / wide;
  if (up < low) up = low, across = std::min(low * wide / tall, long_side);
  if (up > high) up = high, across = std::max(high * wide / tall, narrow);
  double row = 0, lines = 1;
  for (const data::Series& s : f.panels.front().series) {
    const std::string& label = std::visit(
        [](const auto& x) -> const std::string& {
          if constexpr (requires { x.label; })
            return x.label;
          else
            return x.text;
        },
        s);
    if (label.empty()) continue;
    const double entry = 25 + 4 * static_cast<double>(label.size());  // with its swatch
    if (row > 0 && row + entry > across) row = 0, ++lines;
    row += entry;
  }
  f.width = across + 95;
  f.height = up + 46 + 9.5 * lines + (f.title.empty() ? 0 : 17.5);
}

}  // namespace

data::Figure scene_figure(const SceneFigure& s, const Scene& scene,
                          const std::vector<Medium>& media, const YeeGrid& grid,
                          const SceneOrder& bodies) {
  const bool solid = grid.dimensions() == 3;
  double widest = 0;
  for (std::size_t d = 0; d < (solid ? 3u : 2u); ++d)
    widest = std::max(widest, grid.lines[d].back() - grid.lines[d].front());
  const auto [scale, unit] = widest < 1e-3 ? std::pair(1e6, "µm")
                             : widest < 1  ? std::pair(1e3, "mm")
                                           : std::pair(1.0, "m");
  const SceneCuts cuts{s, scene, media, grid, bodies, scale, unit};
  const double wide = cuts.extent(0), tall = cuts.extent(1);
  data::Figure f{.width = 0, .height = 0, .title = s.title};
  f.panels = {cuts.panel_of({2, 0, 1})};
  if (!solid) {
    share_keys(f.panels);
    size_to_scale(f, wide, tall);
    return f;
  }
  // x and y above, x and z below, y and z beside these; none a sliver.
  f.panels.push_back(cuts.panel_of({1, 0, 2}));
  f.panels.push_back(cuts.panel_of({0, 1, 2}));
  f.panels[1].row = 1, f.panels[2].row = 1, f.panels[2].column = 1;
  share_keys(f.panels);
  for (std::size_t p = 0; p < 3; ++p) {
    const std::size_t axis = 2 - p;
    const std::vector<double>& line = grid.lines[axis];
    f.panels[p].title = fmt::format(
        "{} = {:.4g} {}", "xyz"[axis],
        grid.middle(static_cast<int>(axis), static_cast<int>(cell_at(line, s.through[axis]))) *
            scale,
        unit);
  }
  const double deep = cuts.extent(2), least = std::max({wide, tall, deep}) / 3;
  f.column_weight = {std::max(wide, least), std::max(tall, least)};
  f.row_weight = {std::max(tall, least), std::max(deep, least)};
  f.width = 620;
  f.height = std::clamp(
      130 + 480 * (f.row_weight[0] + f.row_weight[1]) / (f.column_weight[0] + f.column_weight[1]),
      300.0, 900.0);
  return f;
}

}  // namespace tessera::electromagnetics
