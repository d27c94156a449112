// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/options.h"
#include "inversion/survey/input.h"
#include "tessera/inversion/section_mesh.h"

#include <numbers>
#include <string>

namespace tessera::apps::mt2d {

inline constexpr double degrees = 180 / std::numbers::pi;  ///< of a radian

/// The survey of a case across its strike, and what was done to find that.
struct Input : survey::Input {
  std::string strike;  ///< a line for the user
};

/// Stations with at least one datum, turned to the strike and projected across it. Errors and
/// warnings are among the findings: E0683 (no strike), E0685 (two stations on one place).
Input read_input(const data::Config& config, const Mt2dOptions& o);

/// The ground of a case: through the stations, level, or from its file (E0690 where that is no such
/// table); the stations on it. Throws data::InputError E0684 naming each station that stands in the
/// air or is buried.
struct Ground {
  inversion::Ground2d line;
  inversion::SectionStations stations;
  std::vector<std::string> remarks;
  double surface = 0;  ///< z of the water's, where there is one
};
Ground ground_of(const Mt2dOptions& o, const inversion::Survey& survey);

/// A table of distance_m and elevation_m. Throws data::InputError E0690 where it is none.
inversion::Ground2d ground_line(const std::filesystem::path& file);
/// z of a line, linear between its points and level beyond.
double depth_of(const inversion::Ground2d& line, double y);

}  // namespace tessera::apps::mt2d
