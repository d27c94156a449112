// SPDX-License-Identifier: Apache-2.0
#include "inversion/section_file/section_file.h"

#include "tessera/data/windows.h"

#include <utility>

namespace tessera::apps::section_file {

void create(const std::filesystem::path& file, const Type& type) {
  data::create_boxes(
      file, type, kDataset,
      {.units = "1", .long_name = "log10 of the resistivity in ohm m, [section, row, column]"});
}

data::Panel panel(const std::string& title, Index rows, Index columns, std::vector<double> value) {
  const auto edges = [](Index n) {
    std::vector<double> e;
    for (Index k = 0; k <= n; ++k) e.push_back(static_cast<double>(k) / static_cast<double>(n));
    return e;
  };
  data::Panel p{.title = title,
                .x = {.hidden = true},
                .y = {.reversed = true, .hidden = true},
                .legend = data::Legend::none,
                .grid = false};
  p.colour.axis.label = "log_{10} resistivity";
  p.colour.axis.unit = "ohm m";
  p.series = {
      data::HeatMap{.x_edge = edges(columns), .y_edge = edges(rows), .value = std::move(value)}};
  return p;
}

}  // namespace tessera::apps::section_file
