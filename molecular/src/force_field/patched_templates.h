// SPDX-License-Identifier: Apache-2.0
//
// Templates changed by patches: atoms and bonds that come and go at the ends of chains, by
// protonation, by bonds to other residues.
#pragma once
#include "tessera/molecular/force_field.h"

#include <optional>

namespace tessera::molecular {

/// The template as one residue of a patch makes it; nothing where both do not go together (an atom
/// that comes is there, one that changes is not). A bond to another residue of the patch is one to
/// the outside.
std::optional<ForceField::Template> patched(const ForceField& ff, const ForceField::Template& t,
                                            std::int32_t patch, int residue);

/// What residues are matched by: all their atoms, or those that are no hydrogens.
enum class Matched : std::uint8_t { all_atoms, heavy_atoms };
/// The force field with the patched templates that residues of the structure match which match none
/// as they are, fewer patches first and in the order of the file. Up to four patches of a residue
/// that change different atoms go together, of those that bind several residues one at most.
ForceField with_patched_templates(const ForceField& ff, const Structure& structure,
                                  Matched by = Matched::all_atoms);

}  // namespace tessera::molecular
