// SPDX-License-Identifier: Apache-2.0
//
// GROMACS structures (.gro) and topologies (.top, .itp); GROMACS reference manual, "Topologies" and
// "File formats". Units are the suite's own: nm, ps, kJ/mol, e; angles of files are in degrees.
//
// A topology passes GROMACS's preprocessor first (#include, #define, #undef, #ifdef, #ifndef,
// #else, #endif, lines joined by a backslash, comments after a semicolon). An #include is looked
// for beside the including file, then in the include folders, and may not lead out of these: a
// topology from elsewhere reads no other file.
#pragma once
#include "tessera/data/text_file.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::molecular {

struct GroFile {
  std::string title;  ///< of the first frame
  std::vector<std::string> atom_name;
  std::vector<std::int32_t> residue;  ///< of each atom, row of `residues`
  std::vector<Residue> residues;
  std::vector<Frame> frames;  ///< at least one; `t=` and `step=` of their titles are time and step
  std::vector<data::Diagnostic> remarks;
};

/// All frames. Fields are as wide as the decimal points stand apart, so any precision is read;
/// residues are told apart by number and name. Throws InputError: E0303 numbers, E0309 the number
/// of atoms, E0701 a line is missing or too many, E0702 the box, E0704 a frame has another number
/// of atoms than the first.
GroFile read_gro(const data::TextFile& text);

/// The text of a .gro file, `decimals` (3 to 12) of the positions and one more of the velocities.
/// Throws Error where positions are not those of the atoms, or do not fit into their fields.
std::string write_gro(const GroFile& file, int decimals = 3);
std::string write_gro(const System& system, const std::vector<Frame>& frames, int decimals = 3);

struct TopologyOptions {
  std::vector<std::filesystem::path> include_folders;  ///< in order
  std::vector<std::string> defines;                    ///< "FLEXIBLE" or "NAME=value"
  Rigid constraints = Rigid::none;                     ///< mdp: constraints
  const Frame* reference = nullptr;  ///< positions that position restraints hold to
  bool needs_reference =
      true;  ///< false: without them restraints hold to the origin, for those who only count terms
  /// mdp: disre_fc [kJ/mol/nm^2]; 0: distance restraints are left out, as with disre = no.
  double distance_restraint_k = 0;
  double coulomb_constant = coulomb_codata_2018;  ///< GROMACS's, as of 2021
  /// Most atoms, terms and excluded pairs together: a line may ask for any number of molecules.
  std::size_t most_entries = 2'000'000'000;
};

struct GromacsTopology {
  System system;
  std::vector<std::filesystem::path> files;  ///< all that were read, the topology first
  std::vector<data::Diagnostic> remarks;
};

/// The system of a topology: each entry of the force field that is used becomes one row of a table.
/// Charge groups and B states are left out (the latter with a remark). Throws InputError with all
/// places: E0303 numbers, E0701 a section or column is missing, E0702 an index or count out of
/// range, E0703 a feature that is not read, E0720 an #include, E0721 preprocessor, E0722 a section
/// out of order or unknown, E0723 a type, molecule or parameters that are not there, E0724
/// restraints without reference positions.
GromacsTopology read_top(const std::filesystem::path& path, const TopologyOptions& options = {});
/// The same of a text at hand, as if it lay at its `path`.
GromacsTopology read_top(data::TextFile text, const TopologyOptions& options = {});

}  // namespace tessera::molecular
