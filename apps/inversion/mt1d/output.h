// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/record.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::mt1d {

/// What files and groups of results are named after, by id (inversion::file_names).
std::vector<std::string> names_of(const std::vector<inversion::StationResult>& results);

/// soundings.csv and, in soundings/, model, fit and iteration table of each. No times in any of
/// them. Distances that only count the stations are none.
void write_tables(const std::filesystem::path& run,
                  const std::vector<inversion::StationResult>& results, bool has_coordinates);

/// results.h5 (the results in /tessera, the section as VTKHDF) and vtk/: section.vtu,
/// pseudo_section.vtr. `vtk_xml` false leaves the latter out.
void write_results(const std::filesystem::path& run,
                   const std::vector<inversion::StationResult>& results, bool has_coordinates,
                   bool vtk_xml);
std::vector<inversion::StationResult> read_results(const std::filesystem::path& results_h5,
                                                   bool& has_coordinates);

/// plots/: pseudo-section, stitched section, and with `each` every sounding; PNG, SVG and the same
/// numbers as CSV. Returns the files.
std::vector<std::filesystem::path> draw(const std::filesystem::path& plots,
                                        const std::vector<inversion::StationResult>& results,
                                        bool has_coordinates, bool each, int threads);

}  // namespace tessera::apps::mt1d
