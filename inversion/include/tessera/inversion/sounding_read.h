// SPDX-License-Identifier: Apache-2.0
//
// Soundings from files: SEG EDI, EMTF XML, Jones J, EMTF Z; of all stations of a line ModEM lists
// and MARE2DEM data.
#pragma once
#include "tessera/inversion/sounding.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::inversion {

/// What the user says about files that do not say it, or say it wrongly. Given values override the
/// file.
struct ReadOptions {
  std::optional<TimeSign> sign;
  std::optional<ImpedanceUnits> units;
};

/// What `read_soundings` could and could not read, in the order given.
struct SoundingSet {
  std::vector<Sounding> soundings;
  std::vector<data::Diagnostic> errors;     ///< all errors of all files
  std::vector<std::string> rejected_files;  ///< files that have at least one error
};

/// Reads SEG EDI, EMTF XML, Jones J or EMTF Z, or a list of ModEM or MARE2DEM with one station;
/// which one is told by the content, not by the name. Throws data::InputError (exit code 4) with
/// every finding that has a place in the file.
Sounding read_sounding(const std::filesystem::path& file, const ReadOptions& options = {});

/// The same from bytes already in memory; `name` stands for the file in messages.
Sounding parse_sounding(std::string_view bytes, const std::string& name,
                        const ReadOptions& options = {});

/// All stations of a file of any of these formats, in its order; at least one.
std::vector<Sounding> read_stations_of(const std::filesystem::path& file,
                                       const ReadOptions& options = {});
std::vector<Sounding> parse_stations(std::string_view bytes, const std::string& name,
                                     const ReadOptions& options = {});

/// Reads all of them and collects every error instead of stopping at the first.
SoundingSet read_soundings(std::span<const std::filesystem::path> files,
                           const ReadOptions& options = {});

/// The files of a folder whose names end in .edi, .xml, .j, .dat, .zmm, .zrr, .zss or .emdata (any
/// case), sorted by name with numbers in them compared as numbers (gv9 before gv10). Hidden files
/// are passed over, subfolders are not entered. Throws data::InputError if the folder cannot be
/// read or has no such file.
std::vector<std::filesystem::path> list_sounding_files(const std::filesystem::path& folder);

/// Whether the content looks like one of the formats ("EDI", "EMTF XML", "Jones J", "EMTF Z",
/// "ModEM", "MARE2DEM"); empty if not.
std::string sniff_sounding_format(std::string_view bytes);

}  // namespace tessera::inversion
