// SPDX-License-Identifier: Apache-2.0
//
// Lines of references/special_reference.csv.
#pragma once
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "test_paths.h"

namespace tessera {

struct ReferenceLine {
  std::string name;
  std::vector<double> cells;
};
inline std::vector<ReferenceLine> special_reference(const std::string& name) {
  std::ifstream in(std::string(TESSERA_SOURCE_DIR) + "/tests/autodiff/references/special_reference.csv");
  std::vector<ReferenceLine> out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream cells(line);
    ReferenceLine r;
    std::getline(cells, r.name, ',');
    if (r.name != name) continue;
    for (std::string cell; std::getline(cells, cell, ',');) r.cells.push_back(std::strtod(cell.c_str(), nullptr));
    out.push_back(r);
  }
  if (out.empty()) throw std::runtime_error("no reference named " + name);
  return out;
}
/// The numbers after the first `skip` cells.
inline std::vector<double> numbers(const ReferenceLine& r, std::size_t skip) {
  return {r.cells.begin() + static_cast<std::ptrdiff_t>(skip), r.cells.end()};
}

}  // namespace tessera
