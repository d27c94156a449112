// SPDX-License-Identifier: Apache-2.0
//
// MARE2DEM's .resistivity: what fills the regions of a .poly, and which of it an inversion may
// change (K. Key 2016, doi:10.1093/gji/ggw290; format mare2dem_1.0 and 1.1).
#pragma once
#include "tessera/inversion/mesh_2d.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace tessera::inversion {

struct Mare2demModel {
  std::string model_file;  ///< the .poly, as the file names it; empty where it names none
  std::string data_file;   ///< the .emdata
  bool anisotropic = false;
  struct Region {
    std::array<double, 3> ohm_m{};     ///< along x, y, z; of an isotropic one all the same
    std::array<bool, 3> free{};        ///< may be changed
    double lower = 0, upper = 0;       ///< bounds of its own, ohm m; 0 and 0: none
    double reference = 0, weight = 0;  ///< "prejudice": ohm m and its weight; 0: none
    /// MARE2DEM's air has a resistivity, 1e12 ohm m or more; along all axes.
    bool is_air() const { return *std::min_element(ohm_m.begin(), ohm_m.end()) >= 1e9; }
  };
  std::vector<Region> regions;
};
/// `name` is for messages. Isotropic and triaxial models; bounds and reference of the former alone.
/// Throws data::InputError E0365, with line and column, for what it cannot read.
Mare2demModel read_mare2dem_model(const std::string& text,
                                  const std::string& name = ".resistivity");

/// Region k is parameter k, those of air are air: for triangles_of(outline, media).
std::vector<Medium2d> media_of(const Mare2demModel& model);

}  // namespace tessera::inversion
