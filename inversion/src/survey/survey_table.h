// SPDX-License-Identifier: Apache-2.0
// Tables of data (survey_files.h) as one more kind of file that stations are read from.
#pragma once
#include "tessera/inversion/survey.h"

#include <filesystem>
#include <vector>

namespace tessera::inversion {

/// The least standard deviation of a datum; of the impedance's parts `modulus` is its |Z|.
double floor_of(DatumKind kind, double modulus, const ErrorFloors& floors);

/// The doubts of unit and time sign that files of soundings have (E0330, E0331), of the rows of a
/// station: all of them, whatever a case takes.
std::vector<data::Diagnostic> doubts_of_rows(const DataTable& table, std::size_t station);

/// Throws data::InputError E0682 where the options ask for a turn or another unit or sign.
std::vector<StationData> stations_of_table(const std::filesystem::path& file,
                                           const StationOptions& options);

}  // namespace tessera::inversion
