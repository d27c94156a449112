// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/batch.h"
#include "inversion/mt1d/output.h"
#include "tessera/data/file_io.h"
#include "tessera/data/plot.h"
#include "tessera/inversion/figures.h"

#include <functional>
#include <set>
#include <utility>

namespace tessera::apps::mt1d {

std::vector<std::filesystem::path> draw(const std::filesystem::path& plots,
                                        const std::vector<inversion::StationResult>& results,
                                        bool has_coordinates, bool each, int threads) {
  data::make_folder(plots);
  std::vector<std::pair<std::string, std::function<data::Figure()>>> figures = {
      {"pseudo_section", [&] { return inversion::pseudo_section(results, has_coordinates); }},
      {"section", [&] { return inversion::stitched_section(results, has_coordinates); }}};
  std::set<std::string> taken;  // a sounding may be called "section", too
  for (const auto& [name, make] : figures) taken.insert(name);
  if (each)
    for (const inversion::StationResult& r : results) {
      std::string name = r.id;
      while (!taken.insert(name).second) name += "_sounding";
      figures.emplace_back(name, [&r] { return inversion::station_figure(r); });
    }
  std::vector<std::filesystem::path> files;
  for (const auto& [name, make] : figures)
    for (const char* kind : {".png", ".svg", ".csv"}) files.push_back(plots / (name + kind));
  for_each_index(figures.size(), threads, [&](std::size_t k) {
    const data::Figure figure = figures[k].second();
    data::save(figure, files[3 * k]);
    data::save(figure, files[3 * k + 1]);
    data::save_csv(figure, files[3 * k + 2]);
  });
  return files;
}

}  // namespace tessera::apps::mt1d
