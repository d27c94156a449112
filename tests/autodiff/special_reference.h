// SPDX-License-Identifier: Apache-2.0
//
// Lines of references/special_reference.csv.
#pragma once
#include "csv_cells.h"
#include "test_paths.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera {

struct ReferenceLine {
  std::string name;
  std::vector<double> cells;
};
inline std::vector<ReferenceLine> special_reference(const std::string& name) {
  std::vector<ReferenceLine> out;
  for (const auto& cells : csv_cells(std::string(TESSERA_SOURCE_DIR) +
                                     "/tests/autodiff/references/special_reference.csv")) {
    if (cells.front() != name) continue;
    out.push_back({name, {}});
    for (std::size_t i = 1; i < cells.size(); ++i)
      out.back().cells.push_back(std::strtod(cells[i].c_str(), nullptr));
  }
  if (out.empty()) throw std::runtime_error("no reference named " + name);
  return out;
}
/// The numbers after the first `skip` cells.
inline std::vector<double> numbers(const ReferenceLine& r, std::size_t skip) {
  return {r.cells.begin() + static_cast<std::ptrdiff_t>(skip), r.cells.end()};
}

}  // namespace tessera
