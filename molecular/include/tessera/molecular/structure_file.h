// SPDX-License-Identifier: Apache-2.0
//
// Structures from PDB (wwPDB format 3.3) and PDBx/mmCIF: who the atoms are, where they are, what is bound to what. No force
// field yet: openmm_xml.h makes a System of it.
//
// Lengths are Angstrom in the files, nm here. What the files leave open is decided thus, each with a remark:
//   alternate locations   of every residue the one with the greatest sum of occupancies, the first of equals
//   models                one, the first unless asked otherwise
//   serial numbers        beyond 99,999 as decimals that wrap, hybrid-36 (cctbx) or hexadecimal (VMD); `*****` is none
//   elements left blank   from the columns of the atom's name
//   the cell 1 x 1 x 1    no cell, as files without a crystal have it
#pragma once
#include "tessera/data/text_file.h"
#include "tessera/molecular/system.h"

#include <filesystem>

namespace tessera::molecular {

struct Structure {
  std::string title;
  std::vector<std::string> name;        ///< of each atom
  std::vector<std::uint8_t> element;    ///< atomic number; 0: none (virtual site)
  std::vector<std::int32_t> residue;    ///< row of residues, rising
  std::vector<Vec3> x_nm;
  std::vector<Residue> residues;        ///< number: decimal, with the insertion code behind it
  std::vector<std::int32_t> chain;      ///< of each residue, counted in the order of the file; TER ends one
  std::vector<std::array<std::int32_t, 2>> bonds;  ///< i < j, sorted
  Box box;                              ///< all zero: none
  std::string source;                   ///< path of the file, for messages
  std::vector<std::size_t> line;        ///< of each residue's first atom there; may be empty
  std::size_t n_atoms() const { return name.size(); }
};

struct StructureOptions {
  int model = 1;               ///< counted from 1 in the order of the file
  bool standard_bonds = true;  ///< add_standard_bonds
};
struct StructureFile {
  Structure structure;
  std::vector<data::Diagnostic> remarks;
};

/// Throw InputError with places: E0701 a record or category is missing or cut off, E0303 numbers, E0702 indices, cells and
/// names that cannot be, atoms given twice, E0703 what is not read.
StructureFile read_pdb(const data::TextFile& text, const StructureOptions& options = {});
StructureFile read_mmcif(const data::TextFile& text, const StructureOptions& options = {});
/// Which of both it is, the content tells. Also read_text_file's errors.
StructureFile read_structure(const std::filesystem::path& path, const StructureOptions& options = {});

/// Bonds within amino acids, nucleotides, their caps and water by the names of atoms (wwPDB chemical components; hydrogens by
/// the place that their names tell, old and new style), between neighbours of a chain where C-N or O3'-P are less than
/// 0.25 nm apart, and disulfides: sulphurs without hydrogen less than 0.3 nm apart.
void add_standard_bonds(Structure& structure);

bool is_water(const std::string& residue_name);
bool is_amino_acid(const std::string& residue_name);
bool is_nucleotide(const std::string& residue_name);

/// The structure as a PDB or mmCIF file. PDB has three digits behind the point [Angstrom]; beyond 99,999 atoms it counts in
/// hybrid-36; CONECT names the bonds that are not standard ones. mmCIF keeps six digits. Throw Error where a name or position
/// has no room in the columns of PDB.
std::string pdb_text(const Structure& structure);
std::string mmcif_text(const Structure& structure);

/// A system's atoms at a frame's positions.
Structure structure_of(const System& system, const Frame& frame);

}  // namespace tessera::molecular
