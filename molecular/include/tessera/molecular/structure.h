// SPDX-License-Identifier: Apache-2.0
//
// Who the atoms are, where they are, what is bound to what. No force field yet: force_field.h makes
// a System of it.
#pragma once
#include "tessera/molecular/system.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::molecular {

struct Structure {
  std::string title;
  std::vector<std::string> name;      ///< of each atom
  std::vector<std::uint8_t> element;  ///< atomic number; 0: none (virtual site)
  std::vector<double> isotope_amu;    ///< mass of D and T, 0 of others; empty: there are none
  std::vector<std::int32_t> residue;  ///< row of residues, rising
  std::vector<Vec3> x_nm;
  std::vector<Residue> residues;  ///< number: decimal, with the insertion code behind it
  std::vector<std::int32_t>
      chain;  ///< of each residue, counted in the order of the file; TER ends one
  std::vector<std::array<std::int32_t, 2>> bonds;  ///< i < j, sorted
  Box box;                                         ///< all zero: none
  std::string source;                              ///< path of the file, for messages
  std::vector<std::size_t> line;  ///< of each residue's first atom there; may be empty
  std::size_t n_atoms() const { return name.size(); }
};

/// Bonds within amino acids, nucleotides, their caps and water by the names of atoms (wwPDB
/// chemical components; hydrogens by the place that their names tell, old and new style), between
/// neighbours of a chain where C-N or O3'-P are less than 0.25 nm apart, and disulfides: sulphurs
/// without hydrogen less than 0.3 nm apart.
void add_standard_bonds(Structure& structure);

/// By the names that files of the PDB, AMBER, CHARMM and GROMACS give residues.
bool is_water(const std::string& residue_name);
bool is_amino_acid(const std::string& residue_name);
bool is_nucleotide(const std::string& residue_name);

/// A system's atoms at a frame's positions.
Structure structure_of(const System& system, const Frame& frame);
/// Who its atoms are and what is bound to what, without a force field, for analyses: masses of the
/// elements, or of isotopes, no terms. Charges are not known: NaN, so that selections that go by
/// them are refused.
System system_of(const Structure& structure);

}  // namespace tessera::molecular
