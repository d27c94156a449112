// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/system.h"

namespace tessera::molecular {

/// Every site behind those that it is made from, which is what positions and forces take; else in
/// the order that is there. False, with nothing changed, where sites are made from each other.
bool order_virtual_sites(std::vector<VirtualSite>& sites, std::size_t n_atoms);
/// Puts every virtual site at its position (formulas at VirtualSite).
void place_virtual_sites(const System& system, std::vector<Vec3>& x, const Box& box);
/// Gives the forces on virtual sites to their parents, f_parent += (dx_site/dx_parent)^T f_site,
/// and clears them. The sum of forces and their torque stay as they are; `virial` takes the
/// difference that moving a force makes.
void spread_virtual_forces(const System& system, const std::vector<Vec3>& x, const Box& box,
                           std::vector<Vec3>& f, std::array<Vec3, 3>& virial);

}  // namespace tessera::molecular
