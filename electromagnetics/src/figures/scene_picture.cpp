// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/figures.h"
#include "tessera/electromagnetics/preview.h"

#include <algorithm>
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

/// Corners of a box about a point in the plane of the picture: a point, a line or a closed outline.
data::Line rectangle(const std::string& label, const Point& at, const Point& size, double scale,
                     data::Colour colour) {
  const double x0 = (at[0] - size[0] / 2) * scale, x1 = (at[0] + size[0] / 2) * scale,
               y0 = (at[1] - size[1] / 2) * scale, y1 = (at[1] + size[1] / 2) * scale;
  const data::Stroke stroke{.colour = colour};
  if (x0 == x1 || y0 == y1) return {.label = label, .x = {x0, x1}, .y = {y0, y1}, .stroke = stroke};
  return {.label = label, .x = {x0, x1, x1, x0, x0}, .y = {y0, y0, y1, y1, y0}, .stroke = stroke};
}

}  // namespace

data::Figure scene_figure(const SceneFigure& s, const Scene& scene,
                          const std::vector<Medium>& media, const YeeGrid& grid,
                          const SceneOrder& bodies) {
  const std::vector<double>&x = grid.lines[0], &y = grid.lines[1], &z = grid.lines[2];
  const auto above =
      static_cast<std::size_t>(std::upper_bound(z.begin(), z.end(), s.z) - z.begin());
  const std::size_t k = std::clamp<std::size_t>(above, 1, z.size() - 1) - 1, nx = x.size() - 1,
                    ny = y.size() - 1;
  const data::RectilinearGrid g =
      preview(SceneOrder(scene), media, grid, {2, static_cast<int>(k), 1});  // that plane alone
  const auto field =
      std::find_if(g.fields.cells.begin(), g.fields.cells.end(),
                   [](const data::FieldArray& f) { return f.name == "permittivity"; });
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
      const double eps = field->values[3 * (up[j] * nx + across[i])];
      map.value.push_back(eps);
      map.masked.push_back(eps == 0);  // a perfect conductor
    }
  data::Panel panel{.x = {.label = "x", .unit = unit, .tight = true},
                    .y = {.label = "y", .unit = unit, .tight = true},
                    .colour = {.axis = {.label = "relative permittivity"}},
                    .series = {map},
                    .legend = data::Legend::above,
                    .grid = false};
  add_outlines(panel, bodies, 2, grid.middle(2, static_cast<int>(k)), scale);
  const auto deep = [&](int axis, bool high) {
    return static_cast<std::size_t>(s.layers[static_cast<std::size_t>(axis)][high ? 1 : 0]);
  };
  const double left = x[deep(0, false)], right = x[nx - deep(0, true)];
  const double low = y[deep(1, false)], high = y[ny - deep(1, true)];
  data::Line layers = rectangle("absorbing layers", {(left + right) / 2, (low + high) / 2, 0},
                                {right - left, high - low, 0}, scale, {0.6, 0.6, 0.6, 1});
  layers.stroke.width = 0.8;
  layers.stroke.dash = {3, 2};
  if (right - left < x.back() - x.front() || high - low < y.back() - y.front())
    panel.series.push_back(layers);
  for (const SceneFigure::Mark& m : s.marks)
    if (m.size[0] == 0 && m.size[1] == 0)
      panel.series.push_back(data::Points{.label = m.name,
                                          .x = {m.at[0] * scale},
                                          .y = {m.at[1] * scale},
                                          .marker = m.marker,
                                          .colour = m.colour});
    else
      panel.series.push_back(rectangle(m.name, m.at, m.size, scale, m.colour));
  const double wide = x.back() - x.front(), tall = y.back() - y.front();
  data::Figure f{
      .width = 380, .height = std::clamp(110 + 250 * tall / wide, 160.0, 560.0), .title = s.title};
  f.panels = {panel};
  return f;
}

}  // namespace tessera::electromagnetics
