// SPDX-License-Identifier: Apache-2.0
// Bodies from files of drawings.
#include "electromagnetics/waves/case_parts.h"
#include "tessera/data/gds.h"
#include "tessera/data/nearest_names.h"
#include "tessera/data/step.h"
#include "tessera/data/triangles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

[[noreturn]] void refuse_drawing(data::Diagnostic d) {
  throw data::InputError(data::ExitCode::input_invalid, {std::move(d)});
}

/// Of triangles whose lengths are in `unit`, m.
Drawing solid_of(const data::TriangleFile& file, double unit, const StructureOptions& s,
                 const std::string& key, const data::Config& config) {
  em::SurfaceTriangles surface{.points = file.points, .triangles = file.triangles};
  for (Point& p : surface.points)
    for (double& x : p) x *= unit;
  try {
    return {em::surface_solid(surface), unit, nullptr};
  } catch (const Error& e) {
    refuse_drawing(config.error(376, key + ".file",
                                fmt::format("{}: {}", s.file.string(), e.what()),
                                "export a closed surface"));
  }
}

/// Of the cells that the file gives; 0 where the program makes them.
double smallest_cell(const GridOptions& grid) {
  double least = HUGE_VAL;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& lines = grid.axis(static_cast<int>(d)).lines;
    for (std::size_t k = 1; k < lines.size(); ++k) least = std::min(least, lines[k] - lines[k - 1]);
    if (lines.empty() && grid.cell && grid.size[d] > 0) least = std::min(least, (*grid.cell)[d]);
  }
  return std::isfinite(least) ? std::max(least, 0.0) : 0;
}

/// A chord of 1/200 of a cell moves cross-sections of spheres by some 0.1 % (decision 0218).
data::Chord chord_of(const StructureOptions& s, const GridOptions& grid) {
  return {s.chord.value_or(smallest_cell(grid) / 200), 1.0 / 4000};
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
  return fmt::format("{}{}", fmt::join(first, ", "), names.size() > most ? ", ..." : "");
}

/// The cell that is named, or the only top one.
std::string cell_of(const StructureOptions& s, const data::GdsLibrary& library,
                    const std::string& key, const data::Config& config) {
  if (s.cell) {
    std::vector<std::string> names;
    for (const data::GdsCell& c : library.cells) names.push_back(c.name);
    if (std::find(names.begin(), names.end(), *s.cell) != names.end()) return *s.cell;
    refuse_drawing(config.error(382, key + ".cell",
                                fmt::format("there is no cell '{}' in {}", *s.cell, library.file),
                                "its cells are " + listed(names)));
  }
  const std::vector<std::string> tops = data::top_cells(library);
  if (tops.size() == 1) return tops.front();
  refuse_drawing(
      config.error(382, key + ".file",
                   tops.empty() ? library.file + " has no cells"
                                : fmt::format("{} has {} top cells", library.file, tops.size()),
                   tops.empty() ? "export a layout" : "name one as cell: " + listed(tops)));
}

Drawing layer_of(const StructureOptions& s, const data::GdsLibrary& library, const std::string& key,
                 const data::Config& config) {
  const std::string cell = cell_of(s, library, key, config);
  std::vector<std::string> layers;
  bool there = false;
  for (const auto& [layer, type] : data::layers_of(library, cell)) {
    layers.push_back(fmt::format("{}/{}", layer, type));
    there = there || (layer == s.layer && (!s.datatype || type == *s.datatype));
  }
  if (!there)
    refuse_drawing(
        config.error(381, key + (s.datatype ? ".datatype" : ".layer"),
                     fmt::format("the cell '{}' of {} has no layer {}{}", cell, library.file,
                                 s.layer, s.datatype ? fmt::format("/{}", *s.datatype) : ""),
                     "its layers are " + (layers.empty() ? "none" : listed(layers))));
  std::vector<data::Side> rim =
      data::united(data::gds_polygons(library, cell, s.layer, s.datatype.value_or(-1)));
  if (rim.empty())
    refuse_drawing(config.error(
        381, key + ".layer",
        fmt::format("layer {} of the cell '{}' of {} has no area", s.layer, cell, library.file),
        "paths need a width"));
  for (data::Side& side : rim)
    for (data::Place2* p : {&side.from, &side.to})
      for (double& x : *p) x *= library.unit_m;
  return {{}, 1, std::make_shared<const data::SideTree>(std::move(rim))};
}

}  // namespace

void read_drawings(CaseOptions& o, const data::Config& config) {
  std::map<std::filesystem::path, data::GdsLibrary> layouts;
  for (std::size_t n = 0; n < o.structures.size(); ++n) {
    StructureOptions& s = o.structures[n];
    if (s.drawing) continue;
    const std::string key = structure_key(o, n);
    if (s.shape == ShapeKind::mesh)
      s.drawing = std::make_shared<const Drawing>(
          solid_of(data::read_triangles(s.file), s.unit, s, key, config));
    if (s.shape == ShapeKind::step)
      s.drawing = std::make_shared<const Drawing>(
          solid_of(data::read_step(s.file, chord_of(s, o.grid)).surface, 1, s, key, config));
    if (s.shape != ShapeKind::gds) continue;
    auto known = layouts.find(s.file);
    if (known == layouts.end()) known = layouts.emplace(s.file, data::read_gds(s.file)).first;
    s.drawing = std::make_shared<const Drawing>(layer_of(s, known->second, key, config));
  }
}

}  // namespace tessera::apps::waves
