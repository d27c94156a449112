// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/memory.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <string>

namespace tessera::molecular {

/// What a process may take.
inline double memory_bytes() { return static_cast<double>(data::memory_limit()); }

/// The least that atoms and residues of a System take: of an atom two names and five numbers.
inline double least_bytes(double atoms, double residues) {
  constexpr double atom = 2 * sizeof(std::string) + 2 * sizeof(double) + 3 * sizeof(std::int32_t);
  return atoms * atom + residues * sizeof(Residue);
}

inline constexpr double gib = 1024.0 * 1024 * 1024;

}  // namespace tessera::molecular
