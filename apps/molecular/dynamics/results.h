// SPDX-License-Identifier: Apache-2.0
// What a run leaves: tables of energies, their averages with errors, results.h5, pictures.
#pragma once
#include "molecular/dynamics/case.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/log.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::dynamics {

/// A mean and its standard error by blocking; NaN of too few values.
struct Average {
  double mean = 0, error = 0;
};

struct Summary {
  std::string name;
  StageType type = StageType::dynamics;
  data::CsvNumbers energies;
  std::vector<Average> averages;  ///< of each column, without the first row where there are more;
                                  ///< of a rerun with it
  std::optional<Average> drift;   ///< least-squares slope of the conserved energy, kJ/mol/ps/atom;
                                  ///< error as if rows were independent
};

/// Folder of stage `k` within a run: "2_heat".
std::filesystem::path folder_of(const std::filesystem::path& run, std::size_t k,
                                const std::string& name);
Summary summary_of(const std::filesystem::path& folder, const Stage& stage, std::size_t n_atoms);
/// Its means, and the drift.
void tell(data::Log& log, const Summary& s);

/// summary.csv and results.h5.
void write_results(const std::filesystem::path& run, const Case& c,
                   const std::vector<Summary>& stages);
/// plots/<stage>.png and .svg; their files.
std::vector<std::filesystem::path> draw(const std::filesystem::path& plots,
                                        const std::vector<Summary>& stages,
                                        const std::string& title);

}  // namespace tessera::apps::dynamics
