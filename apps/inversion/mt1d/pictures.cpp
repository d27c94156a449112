// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/batch.h"
#include "inversion/mt1d/output.h"
#include "tessera/data/file_io.h"
#include "tessera/data/plot.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
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
  const bool tensors = std::any_of(results.begin(), results.end(),
                                   [](const auto& r) { return !r.phase_tensor.period.empty(); });
  if (tensors)
    figures.emplace_back("phase_tensors",
                         [&] { return inversion::phase_tensor_section(results, has_coordinates); });
  std::set<std::string> taken;  // a sounding may be called "section", too
  for (const auto& [name, make] : figures) taken.insert(name);
  const std::vector<std::string> names = names_of(results);
  if (each)
    for (std::size_t k = 0; k < results.size(); ++k) {
      const inversion::StationResult& r = results[k];
      std::string name = names[k];
      while (!taken.insert(name).second) name += "_sounding";
      figures.emplace_back(name, [&r] { return inversion::station_figure(r); });
      if (r.phase_tensor.period.empty()) continue;
      std::string second = name + "_phase_tensor";
      while (!taken.insert(second).second) second += "_sounding";
      figures.emplace_back(second, [&r] {
        return inversion::phase_tensor_figure(r.station.empty() ? r.id : r.station, r.phase_tensor);
      });
    }
  std::vector<std::vector<std::filesystem::path>> files(figures.size());
  for_each_index(figures.size(), threads, [&](std::size_t k) {
    const data::Figure figure = figures[k].second();
    files[k] = data::save_as_png_and_svg(figure, plots, figures[k].first);
    files[k].push_back(plots / (figures[k].first + ".csv"));
    data::save_csv(figure, files[k].back());
  });
  std::vector<std::filesystem::path> all;
  for (const auto& of_one : files) all.insert(all.end(), of_one.begin(), of_one.end());
  return all;
}

}  // namespace tessera::apps::mt1d
