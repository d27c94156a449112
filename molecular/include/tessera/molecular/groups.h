// SPDX-License-Identifier: Apache-2.0
//
// Groups of atoms by words: which of them stay where they are, which have a bath of their own,
// which are held or written. A group is a selection (selection.h) or one of the words
//
//   system           all atoms
//   solute           all but waters (one oxygen and two hydrogens, whatever their name) and
//                    residues of one atom
//   solute-heavy     those of them that are no hydrogens
//   solvent          the rest
//   non-protein      as GROMACS names them; so non-water and water_and_ions
//
// chosen at a frame, for a selection may ask where atoms are. An empty group, or `none`, is none of
// them wherever there may be none.
#pragma once
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/system.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::molecular {

/// Whether a choice that may be none is none.
bool is_no_group(const std::string& group);

/// Rows of the atoms of a group, rising. Throws InputError: E0760 of a misspelt selection, E0751
/// where it means no atom.
std::vector<std::int32_t> atoms_of(const std::string& group, const System& system,
                                   const Frame& frame);

/// Atoms that stay where they are: in all directions, or along one of them; a group each.
struct FrozenGroups {
  std::string all, x, y, z;
};
/// Directions in which atoms stay where they are, [n], as Dynamics and Minimization take them;
/// empty where none do. Throws as atoms_of.
std::vector<std::array<bool, 3>> frozen_atoms(const FrozenGroups& groups, const System& system,
                                              const Frame& frame);
/// The system without rigid bonds and waters all of whose atoms stay altogether.
System without_frozen_bonds(System system, const std::vector<std::array<bool, 3>>& frozen);

/// A group with a bath of its own; the bath's time as TemperatureGroup has it.
struct BathGroup {
  std::string atoms;
  double temperature_k = 300, tau_t_ps = 0.1;
};
/// The baths at a frame, each with the ramp `annealing` (of a ramp that `heats` the last point is
/// each group's own temperature) and a name made of its words: "protein_and_name_CA". Throws
/// InputError E0751 naming the first atom that is in none of them, or in two, and as atoms_of.
std::vector<TemperatureGroup> temperature_groups(const std::vector<BathGroup>& groups,
                                                 const Ramp& annealing, bool heats,
                                                 const System& system, const Frame& frame);

/// Names, residues and bonds of some atoms, as files of frames show them, and as many pairs more as
/// keep those of one molecule together; no terms.
System part_of(const System& system, const std::vector<std::int32_t>& atoms);

}  // namespace tessera::molecular
