// SPDX-License-Identifier: Apache-2.0
// What `tessera info` says of surfaces of triangles.
#include "tessera/data/info.h"
#include "tessera/data/text_reader.h"
#include "tessera/data/triangles.h"

#include <algorithm>

namespace tessera::data {
namespace {

InfoNode triangles_info(const std::filesystem::path& path) {
  const TriangleFile t = read_triangles(path);
  InfoNode node;
  node.name = path.filename().string();
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

}  // namespace
}  // namespace tessera::data
