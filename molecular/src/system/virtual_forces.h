// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/others.h"
#include "tessera/molecular/virtual_sites.h"

namespace tessera::molecular {

/// spread_virtual_forces of the sites that this rank has; the virial is that of all ranks' sites.
void spread_virtual_forces(const System& system, const std::vector<Vec3>& x, const Box& box,
                           const Others& others, std::vector<Vec3>& f, std::array<Vec3, 3>& virial);

}  // namespace tessera::molecular
