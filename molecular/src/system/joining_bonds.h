// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/system.h"

namespace tessera::molecular {

/// The connectivity, and as many pairs more as make its molecules those of the system: of virtual
/// sites and their parents, rigid waters and constraints without chemical bonds. For files that
/// have nothing but bonds.
std::vector<std::array<std::int32_t, 2>> joining_bonds(const System& system);

}  // namespace tessera::molecular
