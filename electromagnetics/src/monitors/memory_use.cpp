// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/memory_use.h"

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

/// Of a sample: its edge and how it is found again, three weights and columns, and its records of
/// some steps.
constexpr double sample_bytes = 150 + 24 * 16;
constexpr double index_bytes = 12;  ///< of a cell: a material of 16 bits for each component

/// Cells that a box touches along an axis; 1 of an axis that is not resolved.
double cells_touched(const YeeGrid& grid, int axis, double middle, double size) {
  if (!grid.resolved(axis)) return 1;
  const std::vector<double>& lines = grid.lines[static_cast<std::size_t>(axis)];
  const double low = middle - size / 2, high = middle + size / 2;
  double n = 0;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i)
    if (lines[i] < high && lines[i + 1] > low) n += 1;
  return n;
}

}  // namespace

std::int64_t field_bytes(const YeeGrid& grid, const std::array<Faces, 3>& faces, int pml_cells,
                         Dtype dtype, int parts) {
  double cells = 1, layers = 0;
  for (int d = 0; d < 3; ++d) cells *= grid.cells(d) + 2.0;
  for (int d = 0; d < 3; ++d) {
    const Faces& f = faces[static_cast<std::size_t>(d)];
    const int absorbing = int{f.low == Boundary::pml} + int{f.high == Boundary::pml};
    layers += 4.0 * absorbing * pml_cells * cells / (grid.cells(d) + 2.0);
  }
  const double word = dtype == Dtype::f32 ? 4 : 8;
  return static_cast<std::int64_t>((6 * cells + layers) * word) * parts;
}

double material_bytes(const YeeGrid& grid) {
  return index_bytes * static_cast<double>(grid.cell_count());
}

double surface_samples(const YeeGrid& grid, const Point& middle, const Point& size) {
  std::array<double, 3> n{};
  for (std::size_t d = 0; d < 3; ++d)
    n[d] = cells_touched(grid, static_cast<int>(d), middle[d], size[d]);
  double faces = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (!grid.resolved(static_cast<int>(d))) continue;
    if (size[d] == 0) return 4 * n[(d + 1) % 3] * n[(d + 2) % 3];
    faces += 8 * (n[0] * n[1] * n[2] / std::max(n[d], 1.0));
  }
  return faces;
}

double flux_samples(const YeeGrid& grid, const Point& middle, const Point& size) {
  return 1.5 * surface_samples(grid, middle, size);
}

RecordMemory memory_of_time_record(double samples, double kept) {
  return {sample_bytes * samples + 8 * kept * (samples + 1), 8 * kept * samples, 0};
}

RecordMemory memory_of_frames(double samples, double kept) {
  return {sample_bytes * samples + 4 * kept * samples, 8 * kept * samples, 0};
}

RecordMemory memory_of_transforms(double samples, double frequencies) {
  const double sums = 16 * samples * frequencies;
  return {sample_bytes * samples + sums, sums, 2 * sums};
}

RecordMemory memory_of_pattern(double directions, double frequencies, bool cross_section) {
  const double each = directions * frequencies;
  // A direction and whether it is seen; E_theta and E_phi as they are found, together and apart.
  if (cross_section) return {32 * directions, 8 * each, 40 * each};
  return {32 * directions, 72 * each, 88 * each};
}

}  // namespace tessera::electromagnetics
