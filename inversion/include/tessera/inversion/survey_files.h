// SPDX-License-Identifier: Apache-2.0
//
// A survey and its table of data in files: there and back without a bit lost, and for MARE2DEM and
// ModEM.
#pragma once
#include "tessera/data/hdf5.h"
#include "tessera/inversion/survey.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::inversion {

/// One table (RFC 4180), a row per datum, stations in their order. Columns: station (id), name,
/// latitude_deg, longitude_deg, elevation_m, x_m, y_m, z_m, tilt_deg, distance_m, offset_m,
/// frequency_hz, period_s, kind (name_of), unit, value, sigma, predicted. A station without data
/// has a row with nothing from frequency_hz on. What is not known is an empty field; numbers are
/// the shortest that read back to the same bits. To be read it needs station, frequency_hz, kind,
/// value and sigma.
std::string survey_csv(const Survey& survey);
void write_survey_csv(const std::filesystem::path& path, const Survey& survey);

/// The same in a group of an HDF5 file: station/... one number per station (NaN: not known),
/// data/... one per datum.
void write_survey(data::H5Writer& file, const std::string& group, const Survey& survey);

/// Whether a file is one of them by the ending of its name: .csv, .h5 or .hdf5, also in capitals.
bool is_survey_table(const std::filesystem::path& file);

/// Either of them: a .csv, or an .h5 or .hdf5 with the group tessera/survey. The
/// stations stand as the file has them; `sounding` of each is empty. Throws data::InputError E0681
/// where the file is no such table, with line and column where it has them.
Survey read_survey(const std::filesystem::path& path);

/// Of each id the name that files of a run and groups of HDF5 have after it: letters, digits, `-`,
/// `_`, `.` and what is not ASCII stay; all else, and a `.` that comes first, becomes `_`; at most
/// 100 bytes. Ids that fall together are told apart by a number: a_b, a_b-2. An id may come from
/// any table, and so hold `/` and `..`: no path is ever made of one as it is.
std::vector<std::string> file_names(const std::vector<std::string>& ids);

/// MARE2DEM's .emdata (EMData_2.2) of the rows that it can hold: log10 rho_a and phase of xy and
/// yx. Receivers stand at x = offset_m, y = distance_m, z as in write_modem.
/// Throws tessera::Error where there is another kind, or no row.
std::string emdata_text(const Survey& survey);
void write_emdata(const std::filesystem::path& path, const Survey& survey);

/// ModEM's list of the rows that it can hold, a block for each type: impedances in mV/km/nT
/// (Full_Impedance where Zxx or Zyy are among them, else Off_Diagonal_Impedance), tipper
/// (Full_Vertical_Components), log10 rho_a and phase of xy and yx (Off_Diagonal_Rho_Phase, in ohm m
/// and degrees, those of -Zyx, as its comment says). e^{+i omega t}; the file has one error for
/// real and imaginary part, the larger one, and what has only one of these is left out. Stations
/// stand at x = offset_m, y = distance_m, z of `place_m`, else minus the elevation, else 0; blanks
/// in names become _. `x_azimuth_deg` is where x points, clockwise from north: the strike. Throws
/// tessera::Error where there is another kind, or no row.
std::string modem_text(const Survey& survey, double x_azimuth_deg = 0);
void write_modem(const std::filesystem::path& path, const Survey& survey, double x_azimuth_deg = 0);

}  // namespace tessera::inversion
