// SPDX-License-Identifier: Apache-2.0
// What the runs of a sweep have found, side by side: one table, one HDF5 file, curves in one
// picture.
#pragma once
#include "support/app.h"
#include "tessera/data/sweep.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tessera::apps {

/// "SWEEP/points/007": the run folder of a point; numbers from 1 and as wide as the last one.
std::filesystem::path folder_of_point(const std::filesystem::path& sweep, std::size_t point,
                                      std::size_t points);

/// How the run of a point has ended.
struct PointOutcome {
  int exit_code = -1;  ///< -1: it has not
  std::string reason;
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<data::InputFile> inputs;
  bool has_results() const;  ///< whole ones, be they what was expected or not
};

/// points.csv, results.h5 and, with `pictures`, plots/ of the sweep in `folder`, from the results
/// in its points' folders. Returns the pictures.
std::vector<std::filesystem::path> write_sweep_results(const std::filesystem::path& folder,
                                                       const App& app, const data::Sweep& sweep,
                                                       const std::vector<PointOutcome>& outcomes,
                                                       bool pictures);

}  // namespace tessera::apps
