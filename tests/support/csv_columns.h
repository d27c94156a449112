// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sstream>
#include <string>
#include <vector>

namespace tessera::testing {

/// Column `name` of a table of numbers, or nothing where there is none.
inline std::vector<double> csv_column(const std::string& csv, const std::string& name) {
  std::istringstream in(csv);
  std::string line, cell;
  std::getline(in, line);
  std::istringstream header(line);
  int at = 0;
  bool found = false;
  while (!found && std::getline(header, cell, ',')) {
    found = cell == name;
    at += found ? 0 : 1;
  }
  std::vector<double> out;
  while (found && std::getline(in, line)) {
    std::istringstream cells(line);
    for (int i = 0; i <= at; ++i) std::getline(cells, cell, ',');
    out.push_back(std::stod(cell));
  }
  return out;
}

}  // namespace tessera::testing
