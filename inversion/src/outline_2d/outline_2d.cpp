// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/outline_2d.h"

#include "cgal_plugin.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/plugin.h"

#include <algorithm>
#include <map>

namespace tessera::inversion {

bool outlines_available(std::string* why_not) { return plugin_available("cgal", why_not); }

Mesh2d triangles_of(const Outline2d& o, const std::vector<Medium2d>& of_region,
                    const OutlineMeshOptions& options) {
  if (o.y.size() != o.z.size() || o.y.size() < 3 || o.segments.size() < 3)
    throw Error(
        "[triangles_of] an outline has three points and segments or more, and as many y as z");
  for (const auto& s : o.segments)
    for (const Index p : s)
      if (p < 0 || p >= static_cast<Index>(o.y.size()))
        throw Error("[triangles_of] a segment names point " + std::to_string(p) + " of " +
                    std::to_string(o.y.size()));
  if (!(options.least_angle_deg >= 0 && options.least_angle_deg <= 33))
    throw Error("[triangles_of] the least angle lies between 0 and 33 degrees");
  const auto triangulate =
      reinterpret_cast<TriangulateOutline>(plugin_function("cgal", kTriangulateOutline));
  OutlineTriangles t = triangulate(o, options);
  Mesh2d m{.corners = 3, .y = std::move(t.y), .z = std::move(t.z), .cell = std::move(t.cell)};
  for (std::size_t c = 0; c < t.region.size(); ++c) {
    const Index r = t.region[c];
    if (r < 0) {
      double y = 0, z = 0;
      for (int k = 0; k < 3; ++k) y += m.y[m.cell[c * 3 + k]] / 3, z += m.z[m.cell[c * 3 + k]] / 3;
      throw Error("[triangles_of] the region around y = " + std::to_string(y) +
                  ", z = " + std::to_string(z) + " has no seed");
    }
    if (r >= static_cast<Index>(of_region.size()))
      throw Error("[triangles_of] region " + std::to_string(r + 1) + " has no medium; there are " +
                  std::to_string(of_region.size()));
    m.medium.push_back(of_region[r]);
  }
  require_mesh(m);
  return m;
}

std::vector<Index> line_between(const Mesh2d& m, const std::function<bool(Index)>& above) {
  std::map<std::pair<Index, Index>, std::vector<Index>> cells;
  for (Index c = 0; c < m.cells(); ++c)
    for (int k = 0; k < m.corners; ++k)
      cells[std::minmax(m.cell[c * m.corners + k], m.cell[c * m.corners + (k + 1) % m.corners])]
          .push_back(c);
  std::map<Index, std::vector<Index>> next;
  for (const auto& [edge, at] : cells)
    if (at.size() == 2 && above(at[0]) != above(at[1])) {
      next[edge.first].push_back(edge.second);
      next[edge.second].push_back(edge.first);
    }
  const auto [left, right] = std::minmax_element(m.y.begin(), m.y.end());
  const auto bad = [](const std::string& what) { return Error("[line_between] " + what); };
  Index at = -1;
  for (const auto& [v, others] : next)
    if (m.y[v] == *left) {
      if (at >= 0) throw bad("several lines begin at the left side");
      at = v;
    }
  if (at < 0) throw bad("no line begins at the left side");
  std::vector<Index> out{at};
  Index before = -1;
  while (m.y[at] != *right || out.size() == 1) {
    Index to = -1;
    for (const Index v : next.at(at))
      if (v != before) {
        if (to >= 0)
          throw bad("lines meet at y = " + std::to_string(m.y[at]) +
                    ", z = " + std::to_string(m.z[at]));
        to = v;
      }
    if (to < 0 || out.size() > m.y.size())
      throw bad("the line ends at y = " + std::to_string(m.y[at]));
    before = at;
    at = to;
    out.push_back(at);
  }
  return out;
}

}  // namespace tessera::inversion
