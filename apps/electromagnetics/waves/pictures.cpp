// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/pictures.h"

#include "electromagnetics/waves/bodies.h"
#include "electromagnetics/waves/sheets.h"
#include "tessera/data/file_io.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/electromagnetics/grid_cut.h"
#include "tessera/electromagnetics/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {

namespace em = electromagnetics;

void write_scene(const std::filesystem::path& folder, const Case& c) {
  constexpr std::int64_t most_cells = std::int64_t{2} << 20;
  data::make_folder(folder);
  const em::SceneOrder scene(c.scene);
  const int axis = em::cut_axis(c.grid), planes = axis < 0 ? 1 : c.grid.cells(axis);
  const auto pieces = static_cast<int>(
      std::min<std::int64_t>((c.grid.cell_count() + most_cells - 1) / most_cells, planes));
  if (pieces < 2)
    return data::write_vtk_xml(folder / "scene.vtr",
                               em::preview(scene, c.media, c.grid, {}, middle_of_band(c)));
  std::vector<data::PvdFile> files;
  for (int q = 0; q < pieces; ++q) {
    const auto begin = static_cast<int>(std::int64_t{q} * planes / pieces),
               end = static_cast<int>(std::int64_t{q + 1} * planes / pieces);
    const std::string name = fmt::format("scene_{:04}.vtr", q);
    data::write_vtk_xml(folder / name, em::preview(scene, c.media, c.grid,
                                                   {axis, begin, end - begin}, middle_of_band(c)));
    files.push_back({.part = q, .name = name});
  }
  data::write_pvd(folder / "scene.pvd", files);
}

std::vector<std::filesystem::path> draw_scene(const std::filesystem::path& folder, const Case& c,
                                              bool grid_lines,
                                              const std::vector<em::SceneFigure::Mark>& more) {
  if (!c.grid.resolved(1)) return {};
  Point through{};  // the middle, where there is no source
  for (std::size_t d = 0; d < 3; ++d)
    through[d] = (c.grid.lines[d].front() + c.grid.lines[d].back()) / 2;
  if (!c.options.ports.empty()) through = c.options.ports.front().position;
  if (!c.options.sources.empty()) through = *c.options.sources.front().position;
  em::SceneFigure s{.title = c.options.title,
                    .through = c.options.output.scene_at.value_or(through),
                    .layers = {},
                    .marks = {},
                    .grid_lines = grid_lines,
                    .frequency_hz = middle_of_band(c)};
  for (const int axis : {0, 1, 2})
    for (const bool high : {false, true})
      s.layers[static_cast<std::size_t>(axis)][high ? 1 : 0] = layer_cells(c, axis, high);
  for (std::size_t n = 0; n < std::min<std::size_t>(c.options.sources.size(), 4); ++n) {
    const SourceOptions& o = c.options.sources[n];
    if (o.kind != SourceKind::plane_wave || o.size)
      s.marks.push_back({o.name.empty() ? fmt::format("source {}", n) : o.name,
                         *o.position,
                         o.size.value_or(Point{}),
                         data::Marker::cross,
                         {0.95, 0.25, 0.15, 1}});
  }
  for (std::size_t w = 0; w < std::min<std::size_t>(c.options.wires.size(), 20); ++w) {
    const WireOptions& wire = c.options.wires[w];
    for (std::size_t k = 0; k + 1 < std::min<std::size_t>(wire.points.size(), 200); ++k) {
      const Point &a = wire.points[k], &b = wire.points[k + 1];
      int axes = 0;
      for (std::size_t d = 0; d < 3; ++d) axes += a[d] != b[d];
      const int parts =
          axes > 1 ? 16 : 1;  // marks are boxes, of which an oblique piece has a chain
      for (int q = 0; q < parts; ++q) {
        Point middle{}, extent{};
        for (std::size_t d = 0; d < 3; ++d) {
          middle[d] = a[d] + (b[d] - a[d]) * (q + 0.5) / parts;
          extent[d] = std::abs(b[d] - a[d]) / parts;
        }
        s.marks.push_back({w + k == 0 && q == 0 ? "wires" : "",
                           middle,
                           extent,
                           data::Marker::circle,
                           {0.75, 0.45, 0.1, 1}});
      }
    }
  }
  for (std::size_t p = 0; p < std::min<std::size_t>(c.ports.size(), 8); ++p)
    s.marks.push_back({c.options.ports[p].name,
                       *c.ports[p].monitor.position,
                       c.ports[p].monitor.size.value_or(Point{}),
                       data::Marker::square,
                       {0.95, 0.25, 0.15, 1}});
  for (std::size_t k = 0; k < std::min<std::size_t>(c.options.sheets.size(), 8); ++k) {
    const SheetOptions& o = c.options.sheets[k];
    const em::Bounds b = bounds_of_sheet(c, o);
    em::SceneFigure::Mark mark{.name = o.name.empty() ? fmt::format("sheet {}", k) : o.name,
                               .marker = data::Marker::square,
                               .colour = {0.55, 0.35, 0.1, 1}};
    for (std::size_t d = 0; d < 3; ++d)
      mark.at[d] = (b.low[d] + b.high[d]) / 2, mark.size[d] = b.high[d] - b.low[d];
    s.marks.push_back(std::move(mark));
  }
  for (std::size_t m = 0; m < std::min<std::size_t>(c.options.monitors.size(), 6); ++m) {
    const MonitorOptions& o = c.options.monitors[m];
    if (o.kind != MonitorKind::ldos &&
        (o.size || (o.kind != MonitorKind::energy && o.kind != MonitorKind::snapshot)))
      s.marks.push_back({o.name, *o.position, o.size.value_or(Point{}), data::Marker::circle,
                         data::line_colour(m + 1)});  // the first is black, as is much of the map
  }
  s.marks.insert(s.marks.end(), more.begin(), more.end());
  const data::Figure f = em::scene_figure(s, c.scene, c.media, c.grid, bodies_of(c.options));
  data::make_folder(folder);
  return data::save_as_png_and_svg(f, folder, grid_lines ? "mesh" : "scene");
}

}  // namespace tessera::apps::waves
