// SPDX-License-Identifier: Apache-2.0
// Results as files, and what the case expects of them.
#pragma once
#include "electromagnetics/fdtd/monitor.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

/// results.h5, one CSV file per monitor with a table in it, fields for ParaView.
void write_results(const std::filesystem::path& run, const Case& c, const Results& results);
Results read_results(const std::filesystem::path& file);

/// Columns of a quantity for each value of the axis, and whether they stand in the monitor's table.
std::size_t width(const Quantity& q);
bool in_table(const MonitorResult& r, const Quantity& q);
/// Where the largest of numbers stands, those that are nan passed over.
std::size_t largest_of(const std::vector<double>& values);

/// What an expectation finds, and whether it is met.
struct Expectation {
  std::string name;  ///< "modes.frequency[1]"
  double found;
  std::string text;
  bool met;
};
std::vector<Expectation> check_expectations(const std::vector<ExpectOptions>& expectations,
                                            const Results& results, const data::Config& config);

}  // namespace tessera::apps::fdtd
