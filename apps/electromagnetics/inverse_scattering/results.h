// SPDX-License-Identifier: Apache-2.0
// What an inversion leaves behind: results.h5, tables, pictures, fields for ParaView.
#pragma once
#include "electromagnetics/inverse_scattering/problem.h"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::inverse_scattering {

struct InverseRow {
  double iteration, misfit, gradient, psnr_db, ssim;  ///< the last two NaN without a truth
};

struct InverseResult {
  std::array<std::vector<double>, 3> lines;  ///< of the grid, m
  std::vector<double> map, truth;  ///< [z, y, x] of cells; truth empty where it is not known
  std::array<std::vector<double>, 2> region;      ///< its corners, m
  std::vector<double> time, measured, predicted;  ///< [n], [source, n, receiver]
  std::string field_units;                        ///< of measured and predicted
  std::uint64_t sources = 0, receivers = 0;
  std::vector<InverseRow> history;
};

void write_inverse(const std::filesystem::path& run, const InverseResult& r, bool vtk);
InverseResult read_inverse(const std::filesystem::path& run);
/// The results; the bodies of the case, true ones among them, are outlined over both maps.
std::vector<std::filesystem::path> draw_inverse(const std::filesystem::path& run,
                                                const InverseResult& r, const InverseOptions& o);

}  // namespace tessera::apps::inverse_scattering
