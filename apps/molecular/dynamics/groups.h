// SPDX-License-Identifier: Apache-2.0
// Choices of atoms that a case makes: what has a bath of its own, is held, is frozen, is written.
#pragma once
#include "molecular/dynamics/options.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/system.h"

#include <array>
#include <string>
#include <vector>

namespace tessera::apps::dynamics {

/// Rows of the atoms that a word or a selection (docs/reference/selections.md) means at a frame,
/// rising. Words beside those of selections: system; solute (all but water and single atoms),
/// solvent (the rest), solute-heavy; non-protein, non-water, water_and_ions. Throws InputError:
/// E0760 of a misspelt selection, E0751 where it means no atom.
std::vector<std::int32_t> atoms_of(const std::string& choice, const molecular::System& system,
                                   const molecular::Frame& frame);

/// Directions in which atoms stay where they are, [n]; empty where none do.
std::vector<std::array<bool, 3>> frozen_atoms(const Settings& settings,
                                              const molecular::System& system,
                                              const molecular::Frame& frame);

/// The system without rigid bonds and waters among atoms that stay altogether.
molecular::System without_frozen_bonds(molecular::System system,
                                       const std::vector<std::array<bool, 3>>& frozen);

/// The baths of tc_grps at a frame, with the ramp of `all` in each; that of heat_from ends at each
/// group's temperature. Throws InputError E0751 naming the first atom that is in none of them, or
/// in two.
std::vector<molecular::TemperatureGroup> baths_of(const Settings& settings,
                                                  const molecular::Dynamics& all,
                                                  const molecular::System& system,
                                                  const molecular::Frame& frame);

/// Names, residues and bonds of some atoms, as files of frames show them; no terms.
molecular::System part_of(const molecular::System& system, const std::vector<std::int32_t>& atoms);

}  // namespace tessera::apps::dynamics
