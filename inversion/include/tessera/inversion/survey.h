// SPDX-License-Identifier: Apache-2.0
//
// Soundings from their files to what is inverted, and what is kept of each: read, turned, masked,
// reduced to one response with errors, put in order along a line.
#pragma once
#include "tessera/data/input_files.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/response_1d.h"
#include "tessera/inversion/sounding_inversion.h"
#include "tessera/inversion/sounding_read.h"

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tessera::inversion {

struct StationOptions {
  ReadOptions read;
  std::optional<double> rotation_deg;  ///< the axes are turned by it, see rotate_by
  std::optional<double> strike_deg;    ///< then x is turned to it, see rotate_to
  std::vector<double> mask_periods_s;  ///< left out, see mask_periods
  double shortest_period_s = 0;        ///< what lies outside is left out, see keep_periods
  double longest_period_s = std::numeric_limits<double>::infinity();
  ResponseKind response = ResponseKind::determinant;
  double error_floor = 0.05;  ///< least standard deviation, as a part of the modulus
};

struct Station {
  std::string id;        ///< file name without its ending, unique in a survey
  data::InputFile file;  ///< as it was read
  Sounding sounding;     ///< turned, masked and cut
  Response1d response;   ///< what a layered earth is fitted to; empty if there is no impedance
  std::size_t without_value = 0;         ///< periods that the response lacks: masked, missing, zero
  std::size_t without_error = 0;         ///< the same: no error given, and no floor
  std::vector<double> absent_periods_s;  ///< periods to mask that the sounding does not have
  double distance_m = 0;                 ///< along the line, from its first station
};

/// One file as the options ask for it. Throws data::InputError where it cannot be read; what is
/// doubtful stands in `sounding.findings`.
Station read_station(const std::filesystem::path& file, const StationOptions& options = {});

/// The values of a response that are there and not zero, with sigma = max(propagated error,
/// floor * modulus); the others are counted in `station`.
Response1d usable_response(const Sounding& s, ResponseKind kind, double error_floor,
                           Station& station);

/// Stations in the order of a line.
struct Survey {
  std::vector<Station> stations;
  bool has_coordinates = false;      ///< otherwise distances only count the stations
  std::vector<std::string> remarks;  ///< what a reader of a section has to know
};

/// Puts the stations in order along the line that fits them best, or the one with the given azimuth
/// (make_profile), and makes their names unique: a, a-2, a-3.
Survey line_up(std::vector<Station> stations, std::optional<double> azimuth_deg = {});

/// What is kept of one inverted sounding, as plain numbers: enough for every table and figure.
struct StationResult {
  std::string id, station, file;
  double distance_m = 0, latitude_deg = 0, longitude_deg = 0;  ///< NaN where not known
  SoundingInversion result;
  /// Observed xy and yx of the tensor as it was turned, yx with its phase in the first quadrant.
  std::vector<double> tensor_frequency;
  SoundingCurve xy, yx;
};
StationResult station_result(const Station& station, SoundingInversion result);

}  // namespace tessera::inversion
