// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/parameters.h"

#include <vector>

namespace tessera::molecular {

/// Of each row of 1-4 pairs the entry (type, type) in the Lennard-Jones tables of all pairs that
/// name it; -1: none does, -2: they differ.
std::vector<std::int32_t> entries_of_pairs(const System& system);
/// The table of 1-4 pairs [rows, 4] as their energies take it: `pairs` and what follows from types.
Tensor pairs_with_types(const System& system, const Parameters& p, const LennardJonesTables& lj);

}  // namespace tessera::molecular
