// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_figure.h"

#include "stations.h"
#include "support.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

using namespace data;

Figure section_figure(const MeshSection& s) {
  if (!s.mesh) throw Error("[section_figure] there is no mesh");
  const Mesh2d& mesh = *s.mesh;
  const auto n = static_cast<std::size_t>(mesh.cells());
  figures::require_size("section_figure", "ohm_m", s.ohm_m.size(), n);
  if (!s.veil.empty()) figures::require_size("section_figure", "veil", s.veil.size(), n);
  figures::require_size("section_figure", "z", s.z.size(), s.y.size());
  figures::require_size("section_figure", "station", s.station.size(), s.y.size());

  const auto [mesh_left, mesh_right] = std::minmax_element(mesh.y.begin(), mesh.y.end());
  const auto [mesh_top, mesh_bottom] = std::minmax_element(mesh.z.begin(), mesh.z.end());
  double left = *mesh_left, right = *mesh_right, top = *mesh_top, bottom = *mesh_bottom;
  if (!s.y.empty()) {
    const auto [first, last] = std::minmax_element(s.y.begin(), s.y.end());
    const double highest = *std::min_element(s.z.begin(), s.z.end());
    if (*last > *first) {
      const double length = *last - *first;
      left = std::max(left, *first - 0.1 * length);
      right = std::min(right, *last + 0.1 * length);
      bottom = std::min(bottom, highest + 0.5 * length);
    }
    top = highest - 0.03 * (bottom - highest);
  }
  left = s.left.value_or(left), right = s.right.value_or(right);
  top = s.top.value_or(top), bottom = s.bottom.value_or(bottom);
  const auto [unit, scale] = figures::length_unit(std::max(right - left, bottom - top));

  MeshCells cells{.label = "cells",
                  .corners = static_cast<std::size_t>(mesh.corners),
                  .value = s.ohm_m,
                  .veil = s.veil};
  for (const double y : mesh.y) cells.x.push_back(y / scale);
  for (const double z : mesh.z) cells.y.push_back(z / scale);
  std::vector<double> shown;
  for (std::size_t k = 0; k < n; ++k) {
    const auto [y, z] = mesh.middle(static_cast<Index>(k));
    if (y >= left && y <= right && z >= top && z <= bottom) shown.push_back(s.ohm_m[k]);
  }
  for (const Index c : mesh.cell) cells.corner.push_back(static_cast<std::size_t>(c));

  Figure f{.width = 510, .height = 260, .title = s.title, .subtitle = s.subtitle};
  Panel p{.x = {.label = "Distance", .unit = unit, .min = left / scale, .max = right / scale},
          .y = {.label = "Depth",
                .unit = unit,
                .min = top / scale,
                .max = bottom / scale,
                .reversed = true},
          .colour = {.axis = {.label = s.quantity, .unit = "Ω m", .log = true},
                     .map = ColourMap::resistivity},
          .legend = Legend::none,
          .grid = false};
  Axis& colour = p.colour.axis;
  if (const auto [lo, hi] = figures::central_range(shown, true); lo < hi)
    colour.min = lo, colour.max = hi;
  if (s.least_ohm_m) colour.min = *s.least_ohm_m;
  if (s.greatest_ohm_m) colour.max = *s.greatest_ohm_m;
  Points stations{.label = "stations",
                  .marker = Marker::triangle_down,
                  .size = 5,
                  .colour = Colour{0.1, 0.1, 0.1, 1}};
  for (std::size_t k = 0; k < s.y.size(); ++k) {
    stations.x.push_back(s.y[k] / scale);
    stations.y.push_back(s.z[k] / scale);
    p.top_marks.push_back({s.y[k] / scale, s.station[k]});
  }
  p.series = {std::move(cells), std::move(stations)};
  f.panels = {std::move(p)};
  return f;
}

}  // namespace tessera::inversion
