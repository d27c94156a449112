// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/system.h"

#include <cstdint>
#include <vector>

namespace tessera::molecular {

/// Puts some atoms of `from` behind those of `to`, in the order given, each with its residue (one
/// of `to` for each of `from`). Gives each atom of `from` its number in `to`, -1 where it is not
/// among them.
std::vector<std::int32_t> add_atoms(System& to, const System& from,
                                    const std::vector<std::int32_t>& atoms);

}  // namespace tessera::molecular
