// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/build.h"

#include <vector>

namespace tessera::molecular {

/// Sites of one molecule: O at the origin, the bisector along x.
std::vector<Vec3> molecule_of(const WaterModel& model);
/// n positions on a regular grid of fractions, spread evenly over the box.
std::vector<Vec3> grid_positions(const Box& box, std::size_t n);
/// Molecules with O at the positions, turned at random so that atoms of neighbours keep apart.
std::vector<Vec3> turned_waters(const WaterModel& model, const std::vector<Vec3>& positions,
                                const Box& box, std::uint64_t seed);

}  // namespace tessera::molecular
