// SPDX-License-Identifier: Apache-2.0
// What `tessera info` says of a layout.
#include "tessera/data/gds.h"
#include "tessera/data/info.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::data {
namespace {

constexpr std::size_t kMostTold = 100;  ///< cells and layers

InfoNode gds_info(const std::filesystem::path& path) {
  const GdsLibrary g = read_gds(path);
  InfoNode node;
  node.name = path.filename().string();
  node.add("library", g.name);
  node.add("database unit in m", g.unit_m);
  node.add("cells", static_cast<std::int64_t>(g.cells.size()));
  const std::vector<std::string> tops = top_cells(g);
  for (std::size_t n = 0; n < std::min(tops.size(), kMostTold); ++n) {
    InfoNode& top = node.add("top cell " + tops[n]);
    const auto layers = layers_of(g, tops[n]);
    for (std::size_t k = 0; k < std::min(layers.size(), kMostTold); ++k) {
      const auto [layer, type] = layers[k];
      InfoNode& about = top.add(fmt::format("layer {}/{}", layer, type));
      const std::vector<Outline> polygons = gds_polygons(g, tops[n], layer, type);
      about.add("polygons", static_cast<std::int64_t>(polygons.size()));
      about.add("area in m^2", area_of(united(polygons)) * g.unit_m * g.unit_m);
    }
  }
  return node;
}

const RegisterFormat registered({.name = "GDSII",
                                 .summary = "layouts: polygons and paths in layers",
                                 .extensions = {".gds", ".gdsii", ".gds2"},
                                 .sniff =
                                     [](std::string_view head, const std::filesystem::path&) {
                                       return head.starts_with(std::string_view("\0\6\0\2", 4));
                                     },
                                 .summarize = gds_info,
                                 .priority = 10});

}  // namespace
}  // namespace tessera::data
