// SPDX-License-Identifier: Apache-2.0
// What the sections of a run are like: numbers over all cells, and the pictures.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera::apps::sections {

/// Over all sections of RUN/sections.h5; of log10 of the resistivity in ohm m.
struct Summary {
  std::int64_t count = 0, rows = 0, columns = 0;
  double mean = 0, deviation = 0;                 ///< over all cells of all sections
  std::vector<double> cell_mean, cell_deviation;  ///< [rows, columns]
  std::vector<double> edge, share;                ///< [n + 1], [n] of a histogram of all cells
};
/// Reads all of them, a few at a time.
Summary summary_of(const std::filesystem::path& run);
/// Some sections, means and deviations by cell, the histogram; the files.
std::vector<std::filesystem::path> draw(const std::filesystem::path& run, const Summary& s);

}  // namespace tessera::apps::sections
