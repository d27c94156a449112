// SPDX-License-Identifier: Apache-2.0
// Fields at receivers as files.
#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

namespace tessera::apps::inverse_scattering {

/// [source, time, receiver].
struct ScatteringData {
  std::vector<double> values;
  double widest_s = 0;  ///< between two rows with a time that is none of theirs
};
/// At the times that are asked for, linear between the rows of a CSV table
/// (a header, then time in s and one column for each receiver of each source, source by source) or
/// of an HDF5 file (data/time [n], data/measured [source, n, receiver]). Throws InputError E0651
/// where it is no such file or does not reach the last but one of them; where it does not reach the
/// last, the times end before that.
ScatteringData read_scattering_data(const std::filesystem::path& file, std::size_t sources,
                                    std::size_t receivers, const std::vector<double>& time_s);

/// The table that read_scattering_data reads.
void write_scattering_data(const std::filesystem::path& file, const std::vector<double>& values,
                           std::size_t sources, std::size_t receivers,
                           const std::vector<double>& time_s);

}  // namespace tessera::apps::inverse_scattering
