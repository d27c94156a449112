// SPDX-License-Identifier: Apache-2.0
//
// Parts of a system that ranks hold.
#pragma once
#include "tessera/molecular/system.h"

#include <cstdint>
#include <vector>

namespace tessera::molecular {

/// Of each atom the first of those that move from rank to rank together: rigid groups, and virtual
/// sites with what they are made from.
std::vector<std::int32_t> joined_atoms(const System& system);

/// What steps need of the atoms with these numbers, ascending and whole with what joins them:
/// masses, constraints, rigid waters, virtual sites.
System moving_part(const System& all, const std::vector<std::int32_t>& numbers);

/// What forces need: terms and exclusions of which at least one atom is among the first `own` of
/// `numbers`; the others have to be among the rest. Those whose first atom is own come first in
/// every list: `counted` of them.
struct ForcePart {
  System system;                     ///< charges, Lennard-Jones types, terms, exclusions
  std::vector<std::size_t> counted;  ///< of each kind, in the order of each_bonded
  std::size_t counted_exclusions = 0;
};
ForcePart force_part(const System& all, const std::vector<std::int32_t>& numbers, std::size_t own);

/// Of each atom the others that it has terms or exclusions with, once each.
struct Partners {
  std::vector<std::size_t> first;  ///< in `atom` of each atom, and one past the last
  std::vector<std::int32_t> atom;
};
Partners partners_of(const System& system);

}  // namespace tessera::molecular
