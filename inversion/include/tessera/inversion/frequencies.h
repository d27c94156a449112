// SPDX-License-Identifier: Apache-2.0
//
// Stations of a line have frequencies of their own; a model is computed at a few for all of them,
// and its predictions are interpolated in ln f.
#pragma once
#include "tessera/inversion/data_table.h"
#include "tessera/inversion/sparse_matrix.h"

#include <vector>

namespace tessera::inversion {

/// Falling frequencies at which to compute a model for these data: those of the data themselves
/// (equal within 1e-3) where there are no more of them than `per_decade` to a decade, else so many
/// to a decade over their range, ends included. Interpolated predictions (ModelData) of a layered
/// earth with six to a decade are within 0.1 % of its impedance
/// (tests/inversion/frequencies_test.cpp).
std::vector<double> model_frequencies(const DataTable& data, double per_decade = 6);

/// What a model predicts, and what of it a row of the data is.
struct ModelData {
  std::vector<double> frequency_hz;  ///< falling
  /// One per wanted number: station, index of the frequency, kind; sorted by frequency, then
  /// station and kind, so that those of one frequency stand together.
  struct Wanted {
    std::int64_t station = 0;
    std::size_t frequency = 0;
    DatumKind kind;
  };
  std::vector<Wanted> wanted;
  /// [rows of the table, wanted]: the data are rows times predictions. Between frequencies a cubic
  /// in ln f through the four nearest, of impedances in units of sqrt(f), of all else as it is; a
  /// datum within 1e-3 of a frequency is that alone.
  SparseMatrix rows;
};
/// Throws tessera::Error where a datum lies outside of the frequencies.
ModelData model_data(const DataTable& data, const std::vector<double>& frequency_hz);

}  // namespace tessera::inversion
