// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/options.h"
#include "tessera/inversion/mesh_2d.h"
#include "tessera/inversion/section_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::apps::mt2d {

/// Resistivities along the strike (x), along the section (y) and down (z), ohm m.
using Axes = std::array<double, 3>;
inline double least_of(const Axes& ohm_m) { return *std::min_element(ohm_m.begin(), ohm_m.end()); }
inline double greatest_of(const Axes& ohm_m) {
  return *std::max_element(ohm_m.begin(), ohm_m.end());
}

/// A section that is given: regions, each of its resistivities.
struct SectionModel {
  std::vector<Axes> ohm_m;
  /// Which region is at a point of the earth: along the section, z, depth below the ground.
  std::function<std::size_t(double y, double z, double depth)> region;
  /// Depths at which the region may change below a place, rising.
  std::function<std::vector<double>(double y)> depths;
  std::vector<Place> corners;  ///< of bodies or cells
  std::vector<double> tops;    ///< of layers
  /// A level side of a body or cell.
  struct Level {
    double left = 0, right = 0, depth = 0;
  };
  std::vector<Level> levels;
  bool as_z = false;  ///< depths, corners and levels are z, not counted from the ground
  /// Cells of a file that are no parameter, and no region: one water of their mean conductivity,
  /// below a level surface, whose z is `surface`.
  struct Water {
    double ohm_m = 0, least = 0, greatest = 0, surface = 0;
  };
  std::optional<Water> water;
  double left = -HUGE_VAL, right = HUGE_VAL;  ///< ends of cells of a file
  std::optional<inversion::Ground2d> rim;     ///< the upper one of cells of a file: their ground
};
/// Of layers and bodies, or of a file as a run writes it (model.csv). Throws data::InputError E0688
/// for a polygon whose sides cross or that lies in the air, E0690 for a file that is no such table.
SectionModel section_model(const data::Config& config, const Mt2dOptions& o);

/// Even-odd rule.
bool lies_in(const std::vector<Place>& polygon, double y, double depth);

/// E0688 where sides of a polygon cross or it has no area; `key` is that of its points.
void find_crossings(const data::Config& config, const std::vector<Place>& polygon,
                    const std::string& key, std::vector<data::Diagnostic>& wrong);

}  // namespace tessera::apps::mt2d
