// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/output.h"
#include "tessera/data/file_io.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/data/vtkhdf.h"
#include "tessera/inversion/section.h"
#include "tessera/inversion/survey_files.h"

namespace tessera::apps::mt1d {

std::vector<std::string> names_of(const std::vector<inversion::StationResult>& results) {
  std::vector<std::string> ids;
  for (const inversion::StationResult& r : results) ids.push_back(r.id);
  return inversion::file_names(ids);
}

void write_results(const std::filesystem::path& run,
                   const std::vector<inversion::StationResult>& results, bool has_coordinates,
                   bool vtk_xml) {
  const data::UnstructuredGrid section = inversion::section_grid(results);
  data::H5Writer file(run / "results.h5");
  data::write_vtkhdf(file, section);
  file.group("tessera");
  file.attribute("tessera", "app", "inversion.mt1d");
  file.attribute("tessera", "time_convention", "exp(+i omega t)");
  std::vector<std::string> ids;
  for (const inversion::StationResult& r : results) ids.push_back(r.id);
  file.write_texts("tessera/profile/sounding", ids, {"", "soundings in the order of the profile"});
  file.write("tessera/profile/has_coordinates", std::vector<double>{has_coordinates ? 1.0 : 0.0},
             {}, {"1", "0: distances only count stations"});
  const std::vector<std::string> names = names_of(results);
  for (std::size_t k = 0; k < results.size(); ++k)
    write(file, "tessera/sounding/" + names[k], results[k]);
  file.commit();
  if (!vtk_xml) return;
  data::make_folder(run / "vtk");
  data::write_vtk_xml(run / "vtk" / "section.vtu", section);
  data::write_vtk_xml(run / "vtk" / "pseudo_section.vtr", inversion::pseudo_section_grid(results));
}

std::vector<inversion::StationResult> read_results(const std::filesystem::path& results_h5,
                                                   bool& has_coordinates) {
  const auto found = data::read_h5(results_h5, {}, data::limits_of_results());
  std::map<std::string, data::H5Array> datasets;
  for (const auto& [name, array] : found)
    datasets.emplace(name.starts_with('/') ? name.substr(1) : name, array);
  const auto missing = [&](const char* what) {
    data::Diagnostic d;
    d.number = 428;
    d.place.file = results_h5.string();
    d.message = std::string("the file has no ") + what + ": it is no result of inversion.mt1d";
    return data::InputError(std::move(d));
  };
  const auto order = datasets.find("tessera/profile/sounding"),
             flag = datasets.find("tessera/profile/has_coordinates");
  if (order == datasets.end() || flag == datasets.end()) throw missing("tessera/profile");
  const auto* ids = std::get_if<std::vector<std::string>>(&order->second.data);
  const auto* coordinates = std::get_if<std::vector<double>>(&flag->second.data);
  if (!ids || ids->empty() || !coordinates || coordinates->size() != 1)
    throw missing("usable tessera/profile");
  has_coordinates = (*coordinates)[0] != 0;
  std::vector<inversion::StationResult> results;
  const std::vector<std::string> names = inversion::file_names(*ids);
  for (std::size_t k = 0; k < ids->size(); ++k) {
    results.push_back(read(datasets, "tessera/sounding/" + names[k], results_h5.string()));
    results.back().id = (*ids)[k];
  }
  return results;
}

}  // namespace tessera::apps::mt1d
