// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/analysis/tasks.h"

namespace tessera::apps::analysis {

/// results.h5, tables/NAME.csv for each chart, tables/averages.csv.
void write_findings(const std::filesystem::path& run, const Findings& f, const std::string& title);
/// The charts of a results.h5. Throws InputError E0428.
Findings read_charts(const std::filesystem::path& run, std::string& title);
/// A picture for each chart.
std::vector<std::filesystem::path> draw(const std::filesystem::path& run, const Findings& f,
                                        const std::string& title);
/// "0.9970 +- 0.0004 kg/m^3, one value in 12 is independent"
std::string told(const Average& a);

}  // namespace tessera::apps::analysis
