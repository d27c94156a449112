// SPDX-License-Identifier: Apache-2.0
// Tables with a line of names above them.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::testing {

inline std::vector<std::string> csv_split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream cells(line);
  for (std::string cell; std::getline(cells, cell, ',');) out.push_back(cell);
  return out;
}

/// A table of numbers, row by row, without the names; NaN where a cell is empty.
inline std::vector<std::vector<double>> csv_rows(const std::string& csv) {
  std::istringstream lines(csv);
  std::vector<std::vector<double>> rows;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    rows.emplace_back();
    for (const std::string& cell : csv_split(line))
      rows.back().push_back(cell.empty() ? NAN : std::stod(cell));
  }
  return rows;
}

/// Columns by their names.
inline std::map<std::string, std::vector<double>> csv_table(const std::string& csv) {
  const std::vector<std::string> names = csv_split(csv.substr(0, csv.find('\n')));
  std::map<std::string, std::vector<double>> out;
  for (const std::vector<double>& row : csv_rows(csv))
    for (std::size_t i = 0; i < row.size(); ++i) out[names.at(i)].push_back(row[i]);
  return out;
}

/// Column `name`, or nothing where there is none; the others may hold anything.
inline std::vector<double> csv_column(const std::string& csv, const std::string& name) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = csv_split(line);
  const auto at = std::find(names.begin(), names.end(), name);
  std::vector<double> out;
  while (at != names.end() && std::getline(lines, line))
    out.push_back(std::stod(csv_split(line).at(static_cast<std::size_t>(at - names.begin()))));
  return out;
}

}  // namespace tessera::testing
