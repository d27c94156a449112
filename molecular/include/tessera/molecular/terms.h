// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace tessera::molecular {

/// The parts an energy is reported in.
enum class Term : std::uint8_t {
  bonds,
  urey_bradley,
  angles,
  dihedrals,
  impropers,
  harmonic_impropers,
  ryckaert_bellemans,
  cmap,  ///< corrections on two dihedrals
  pairs_lj,
  pairs_coulomb,
  position_restraints,
  distance_restraints,
  lj,                  ///< Lennard-Jones between pairs within the cut-off
  lj_tail,             ///< dispersion beyond the cut-off
  coulomb_short,       ///< of pairs within the cut-off
  coulomb_reciprocal,  ///< with self, background and excluded pairs
};
inline constexpr std::size_t n_terms = 16;
using TermEnergies = std::array<double, n_terms>;  ///< kJ/mol, by Term

/// "lj_tail"
const char* name_of(Term term);

}  // namespace tessera::molecular
