// SPDX-License-Identifier: Apache-2.0
// Model A of the data of sections: 100 x 40 cells of 100 m by 25 m, 21 stations, 16 frequencies.
#pragma once
#include "learnt_case.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::benchmarks {

inline std::vector<std::vector<std::string>> csv(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    rows.push_back(row);
  }
  return rows;
}
inline Section model_a(const std::filesystem::path& folder) {
  const auto rows = csv(folder / "modelA_true_log10rho_100x40.csv");
  Section s{static_cast<Index>(rows.size()) - 1, static_cast<Index>(rows[0].size()) - 1, {}};
  for (std::size_t r = 1; r < rows.size(); ++r)
    for (std::size_t c = 1; c < rows[r].size(); ++c) s.log10_rho.push_back(std::stod(rows[r][c]));
  return s;
}
/// Its data in the order of the table: station, frequency (falling), mode, part.
inline Data data_of_a(const std::filesystem::path& folder, const DataTable& table) {
  Data d;
  d.value.assign(table.size(), std::nan("")), d.sigma = table.sigma;
  double sum = 0, n = 0;
  for (const auto& row : csv(folder / "modelA_data.csv")) {
    if (row[0] != "TE" && row[0] != "TM") continue;
    const double hz = std::stod(row[1]), y = std::stod(row[2]);
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (std::abs(std::log(table.frequency_hz[i] / hz)) > 1e-3 ||
          std::abs(region_width_m * double(table.station[i]) / 20 - y) > 1 ||
          (table.kind[i].element == Element::xy) != (row[0] == "TE"))
        continue;
      const bool phase = table.kind[i].part == Part::phase;
      d.value[i] = std::stod(row[phase ? 6 : 5]);
      d.sigma[i] = std::stod(row[phase ? 8 : 7]);
      if (!phase) sum += d.value[i], n += 1;
    }
  }
  d.typical_ln_rho = sum / n * std::numbers::ln10;
  return d;
}

}  // namespace tessera::benchmarks
