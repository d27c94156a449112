// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/sounding.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::inversion {

struct GeoPoint {
  double latitude_deg = 0, longitude_deg = 0;
};

/// Length (m) and azimuth at the first point (degrees from north) of the geodesic on WGS84
/// (Vincenty 1975, Survey Review 23(176), 88-93; better than 1 mm). Nearly antipodal points, where
/// the iteration does not settle, give the great circle of the mean radius.
struct Geodesic {
  double length_m = 0, azimuth_deg = 0;
};
Geodesic geodesic(GeoPoint from, GeoPoint to);
/// Where it ends: the same geodesic from its first point on (Vincenty's direct solution). A length
/// below 0 goes the other way.
GeoPoint end_of(GeoPoint from, const Geodesic& path);

struct PlanePoint {
  double north_m = 0, east_m = 0;
};

/// Azimuthal equidistant projection about `centre` on WGS84: distances and directions from the
/// centre are true; lengths across that direction are too long by d^2 / (6 R^2), 0.10 % at d = 500
/// km, so an area of 1000 km is within 0.1 %.
std::vector<PlanePoint> local_plane(std::span<const GeoPoint> points, GeoPoint centre);

/// The middle of the points on the globe (also across the date line).
GeoPoint centre_of(std::span<const GeoPoint> points);

/// Stations on a plane: those of the globe about their middle where all have such a position, else
/// the places of the file's own (Sounding::place_m) where all have these.
struct StationPlaces {
  std::vector<PlanePoint> points;  ///< [station], or none
  bool on_globe = false;
  std::vector<std::string> without;  ///< names of those that have none, if there are none
};
StationPlaces station_places(std::span<const Sounding> soundings);

/// Stations in the order of a line.
struct Profile {
  std::vector<std::size_t> order;  ///< indices of the soundings, first to last along the line
  std::vector<double> distance_m;  ///< [station in order] along the line from the first; 0, 1, 2
                                   ///< ... without coordinates
  std::vector<double>
      offset_m;  ///< [station in order] to the right of the line; empty without coordinates
  double azimuth_deg = 0;            ///< in which the line runs; in [0, 180) where it was fitted
  bool has_coordinates = false;      ///< otherwise `distance_m` only counts the stations
  std::vector<std::string> remarks;  ///< what a reader of a section has to know
};

/// The straight line that fits the stations best (least squared offsets in the local plane), or the
/// one with the given azimuth through their middle. If any station has no place (station_places)
/// the order given is kept with unit spacing, and said.
Profile make_profile(std::span<const Sounding> soundings, std::optional<double> azimuth_deg = {});

}  // namespace tessera::inversion
