// SPDX-License-Identifier: Apache-2.0
// What figures along a line share: stations on the axis of distance, cells of what each of them
// saw, and ranges of colours that a few wild numbers do not take.
#pragma once
#include "tessera/data/plot.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tessera::inversion::figures {

/// Throws Error naming figure and array.
void require_size(const char* figure, const char* what, std::size_t came, std::size_t expected);

/// Distances in the unit of the axis, and the marks above it.
struct Stations {
  data::Axis axis;
  std::vector<double> x;
  std::vector<double> low, high;  ///< the ends of each station's column of cells
  std::vector<data::TopMark> marks;
};
/// Stations may stand on one spot (a repeated sounding): equal distances are set apart by a
/// thousandth of the profile. `counted`: the axis numbers the stations.
Stations place_stations(const std::vector<std::string>& names, const std::vector<double>& distance,
                        bool counted);

/// What one station saw against period (s), which rises.
struct Sounded {
  std::vector<double> period, value;
};
/// A column of cells for each station, half-way to its neighbours in distance and ln period.
std::vector<data::Series> columns(const Stations& stations, const std::vector<Sounded>& seen);

/// The central 96 % of the finite values, so that a few wild cells do not take all the colours;
/// (1, 0) where there are none.
std::pair<double, double> central_range(std::vector<double> values, bool positive);

/// The central range of positive values of each station, and the stations that it leaves out: at
/// either end at most one in ten of three or more whose least (greatest) value is a decade beyond
/// that of all others. A wild station holds more than a fiftieth of the cells of a short profile,
/// and would take the colours of all others.
struct StationRange {
  double low = 1, high = 0;
  std::vector<bool> beyond;
};
StationRange range_of_stations(const std::vector<std::vector<double>>& values);

/// Upper limit of a symmetric axis: at least `least`, one or two digits.
double symmetric_limit(const std::vector<double>& values, double least);

}  // namespace tessera::inversion::figures
