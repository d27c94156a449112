// SPDX-License-Identifier: Apache-2.0
#include "inversion/section_file/section_file.h"

#include "tessera/data/csv.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/text_reader.h"
#include "tessera/data/windows.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace tessera::apps::section_file {
namespace {
constexpr const char* kLongName = "log10 of the resistivity in ohm m, [section, row, column], ";
constexpr const char* kAspect = "width / depth = ";
}  // namespace

void create(const std::filesystem::path& file, const Type& type, double aspect) {
  data::create_boxes(
      file, type, kDataset,
      {.units = "1", .long_name = std::string(kLongName) + kAspect + data::number_text(aspect)});
}

double aspect_of(const std::filesystem::path& file) {
  const std::string ending = data::upper(file.extension().string());
  if (ending != ".H5" && ending != ".HDF5") return 0;
  for (const data::H5Object& o : data::list_h5(file)) {
    if (o.path != "/" + std::string(kDataset)) continue;
    for (const auto& [name, text] : o.attributes) {
      const std::size_t at = text.find(kAspect);
      if (name != "long_name" || at == std::string::npos) continue;
      const double v = std::strtod(text.c_str() + at + std::string(kAspect).size(), nullptr);
      return v > 0 && std::isfinite(v) ? v : 0;
    }
  }
  return 0;
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
