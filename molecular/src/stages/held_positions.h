// SPDX-License-Identifier: Apache-2.0
//
// Where springs of positions hold atoms in a periodic box. What becomes of their positions while
// the box changes depends on the images that they are given as.
#pragma once
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::molecular::stages {

/// The positions of a frame with the images at which some atoms are to be held, however its file
/// has wrapped them. Where only the centre of what is held scales (RestraintScaling::centre):
/// molecules in one piece, each as near as it can be to the centre of them all; where nothing
/// scales: in one piece, their centres in the box, as springs pull at the box the more the farther
/// they are from the origin. Atoms that are there already keep their bits.
std::vector<Vec3> held_positions(const System& system, const Frame& frame,
                                 std::span<const std::int32_t> atoms, RestraintScaling scaling);

/// Restraints of a topology, of which only the centre scales, at such images of the structure that
/// their positions are of.
PositionRestraints in_one_piece(PositionRestraints restraints, const System& system,
                                const Frame& reference);

}  // namespace tessera::molecular::stages
