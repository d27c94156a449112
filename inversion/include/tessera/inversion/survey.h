// SPDX-License-Identifier: Apache-2.0
//
// Stations and their data from files to what is inverted: read, turned, masked, reduced to a table
// of data with errors, put in order along a line or across a strike.
#pragma once
#include "tessera/data/input_files.h"
#include "tessera/inversion/data_table.h"
#include "tessera/inversion/sounding_read.h"

#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::inversion {

/// Least standard deviations.
struct ErrorFloors {
  /// Of real and imaginary part of an impedance, as a part of its modulus; of log10 rho_a and phase
  /// what follows to first order: 2/ln(10) times it, and it in radians.
  double impedance = 0.05;
  double tipper = 0.02;        ///< of real and imaginary part
  double phase_tensor = 0.05;  ///< of an element
  struct Of {
    DatumKind kind;
    double sigma = 0;
  };
  std::vector<Of> kinds;  ///< other ones for single kinds, in their unit: 0.043 of log10_rho_xy
};

struct StationOptions {
  ReadOptions read;
  /// What the azimuths of a file are off by: true azimuth = stated + it, such as the declination
  /// where channels were laid out by a compass. No number of the tensor changes by it.
  double rotation_deg = 0;
  std::optional<double> strike_deg;    ///< then x is turned to it, see rotate_to
  std::vector<double> mask_periods_s;  ///< left out, see mask_periods
  double shortest_period_s = 0;        ///< what lies outside is left out, see keep_periods
  double longest_period_s = std::numeric_limits<double>::infinity();
  std::vector<DatumKind> kinds = {{Element::determinant, Part::real},
                                  {Element::determinant, Part::imag}};
  ErrorFloors floors;  ///< of soundings
  /// Of tables of data: their errors are what was inverted, floors included, unless told otherwise.
  std::optional<ErrorFloors> floors_of_tables;
};

/// Real and imaginary part of a response.
std::vector<DatumKind> impedance_kinds(Element element);

/// A place at which fields are recorded.
struct Station {
  std::string id;        ///< file name without its ending, or the station's; unique in a survey
  std::string name;      ///< as the file spells it
  data::InputFile file;  ///< as it was read
  std::optional<double> latitude_deg, longitude_deg, elevation_m;
  /// x, y, z along the axes of the data, z down from the file's datum (Sounding::place_m).
  std::optional<std::array<double, 3>> place_m;
  double tilt_deg = 0;    ///< of y below the horizontal (Sounding::tilt_deg)
  double distance_m = 0;  ///< along the line, from its first station; across the strike: y
  double offset_m = 0;    ///< to the right of the line; of a section x, to its left
  /// Turned, masked and cut; without frequencies where the data come from a table of data.
  Sounding sounding;
  std::size_t without_value = 0;  ///< responses at a period that have no row: masked, missing, zero
  /// Responses at a period that have no row since no error is given, and no floor: how many, by the
  /// name of the response ("zyx", "ty", "phase_tensor_xx").
  std::map<std::string, std::size_t> without_error;
  std::vector<double> absent_periods_s;  ///< periods to mask that the sounding does not have
  /// Rows of a table of data that are of no kind asked for: how many, by the kind's name.
  std::map<std::string, std::size_t> not_asked;
};

/// z, m down: of the station's own place where it has one, else minus its elevation, else nothing.
std::optional<double> z_of(const Station& station);

/// A station and its rows, which name station 0.
struct StationData {
  Station station;
  DataTable data;
};

/// The stations of one file as the options ask for them: one of an EDI, EMTF XML, J or Z file, all
/// of a ModEM list, a MARE2DEM file (.emdata, .resp) or a table of data (survey_files.h), whose
/// rows of the kinds asked for are taken and cannot be turned (E0682). Throws data::InputError
/// where it cannot be read; what is doubtful stands in `sounding.findings`.
std::vector<StationData> read_stations(const std::filesystem::path& file,
                                       const StationOptions& options = {});

/// The rows of one sounding: values that are there and not zero, with sigma = max(propagated error,
/// floor); the others are counted in `station`.
DataTable rows_of(const Sounding& s, std::span<const DatumKind> kinds, const ErrorFloors& floors,
                  Station& station);

/// Stations in the order of a line and their data.
struct Survey {
  std::vector<Station> stations;
  DataTable data;
  bool has_coordinates = false;      ///< otherwise distances only count the stations
  double azimuth_deg = 0;            ///< in which the line runs
  std::vector<std::string> remarks;  ///< what a reader of a section has to know
};

/// Puts the stations in order along the line that fits them best, or the one with the given azimuth
/// (make_profile), and makes their names unique: a, a-2, a-3.
Survey line_up(std::vector<StationData> stations, std::optional<double> azimuth_deg = {});

/// The same for a two-dimensional earth: stations are projected on the line across the strike, with
/// y = distance_m counted along strike + 90 degrees from their middle; where all have places of the
/// file's own instead of positions on the globe, y is that of the file. Says how far stations lie
/// off the line through their middle, and which ones share a y. Throws data::InputError E0680
/// naming the stations that have no place.
Survey line_up_across(std::vector<StationData> stations, double strike_deg);

}  // namespace tessera::inversion
