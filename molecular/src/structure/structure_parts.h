// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/structure.h"

namespace tessera::molecular {

/// Sorts, orders the ends, takes away doubles.
void tidy_bonds(std::vector<std::array<std::int32_t, 2>>& bonds);

bool is_polymer(const Residue& residue);

}  // namespace tessera::molecular
