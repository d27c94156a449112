// SPDX-License-Identifier: Apache-2.0
//
// Structures (structure.h) from PDB (wwPDB format 3.3) and PDBx/mmCIF, and as such files.
//
// Lengths are Angstrom in the files, nm here. What the files leave open is decided thus, each with
// a remark:
//   alternate locations   of every residue the one with the greatest sum of occupancies, the first
//                         of equals
//   models                one, the first unless asked otherwise, with its own cell
//   atoms after END       left out
//   serial numbers        beyond 99,999 as decimals that wrap, hybrid-36 (cctbx) or hexadecimal
//                         (VMD); `*****` is none
//   elements left blank   from the columns of the atom's name
//   the cell 1 x 1 x 1    no cell, as files without a crystal have it (0 x 0 x 0 of VMD)
//   bonds of metals       those of CONECT to amino acids, nucleotides and water are left out, as
//                         mmCIF tells them apart
#pragma once
#include "tessera/data/text_file.h"
#include "tessera/molecular/structure.h"

#include <filesystem>

namespace tessera::molecular {

struct StructureOptions {
  int model = 1;               ///< counted from 1 in the order of the file
  bool standard_bonds = true;  ///< add_standard_bonds
};
struct StructureFile {
  Structure structure;
  std::vector<data::Diagnostic> remarks;
};

/// Throw InputError with places: E0701 a record or category is missing or cut off, E0303 numbers,
/// E0702 indices, cells and names that cannot be, atoms given twice, E0703 what is not read.
StructureFile read_pdb(const data::TextFile& text, const StructureOptions& options = {});
StructureFile read_mmcif(const data::TextFile& text, const StructureOptions& options = {});
/// Which of both it is, the content tells. Also read_text_file's errors.
StructureFile read_structure(const std::filesystem::path& path,
                             const StructureOptions& options = {});

/// The structure as a PDB or mmCIF file. PDB has three decimals [Angstrom]; beyond
/// 99,999 atoms it counts in hybrid-36; CONECT names the bonds that are not standard ones. mmCIF
/// keeps six digits. Throw Error where a name or position has no room in the columns of PDB.
std::string pdb_text(const Structure& structure);
std::string mmcif_text(const Structure& structure);

}  // namespace tessera::molecular
