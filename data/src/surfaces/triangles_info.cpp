// SPDX-License-Identifier: Apache-2.0
// What `tessera info` says of surfaces of triangles.
#include "tessera/data/info.h"
#include "tessera/data/step.h"
#include "tessera/data/text_reader.h"
#include "tessera/data/triangles.h"

#include <algorithm>

namespace tessera::data {
namespace {

void add_extent(InfoNode& node, const TriangleFile& t) {
  node.add("triangles", static_cast<std::int64_t>(t.triangles.size()));
  std::array<double, 3> low = t.points[t.triangles[0][0]], high = low;
  for (const auto& corners : t.triangles)
    for (const std::uint32_t c : corners)
      for (std::size_t k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], t.points[c][k]);
        high[k] = std::max(high[k], t.points[c][k]);
      }
  for (std::size_t k = 0; k < 3; ++k) {
    InfoNode& axis = node.add(std::string("along ") + "xyz"[k]);
    axis.add("from", low[k]);
    axis.add("to", high[k]);
  }
}

InfoNode triangles_info(const std::filesystem::path& path) {
  InfoNode node;
  node.name = path.filename().string();
  add_extent(node, read_triangles(path));
  return node;
}

InfoNode step_info(const std::filesystem::path& path) {
  const StepFile s = read_step(path);
  InfoNode node;
  node.name = path.filename().string();
  node.add("unit of the file", s.unit);
  node.add("solids", static_cast<std::int64_t>(s.solids));
  node.add("faces", static_cast<std::int64_t>(s.faces));
  InfoNode& metres = node.add("in m");
  add_extent(metres, s.surface);
  return node;
}

const RegisterFormat registered_stl({.name = "STL",
                                     .summary = "surfaces of triangles, text or binary",
                                     .extensions = {".stl"},
                                     .summarize = triangles_info});
const RegisterFormat registered_obj({.name = "OBJ",
                                     .summary = "surfaces of polygons",
                                     .extensions = {".obj"},
                                     .summarize = triangles_info});
const RegisterFormat registered_step({.name = "STEP",
                                      .summary = "solids by their faces, ISO 10303-21",
                                      .extensions = {".step", ".stp"},
                                      .summarize = step_info});

}  // namespace
}  // namespace tessera::data
