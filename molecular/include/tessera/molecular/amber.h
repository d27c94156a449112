// SPDX-License-Identifier: Apache-2.0
//
// AMBER topologies (prmtop, parm7) and restarts, formatted (inpcrd, rst7) or NetCDF (rst7, ncrst);
// ambermd.org/FileFormats.php. Lengths in Angstrom, energies in kcal/mol, charges times 18.2223
// become nm, kJ/mol and e (1 kcal = 4.184 kJ).
//
// What the file says is taken: its exclusions, its 1-4 scale factors (1.2 and 2.0 where it has
// none), its pairs of types (so NBFIX comes for free), correction maps (ff19SB), and in CHAMBER
// topologies Urey-Bradley terms, harmonic impropers and the 1-4 pairs of a CHARMM force field.
// Four-point waters get their virtual sites from the extra point's bond.
#pragma once
#include "tessera/data/binary_file.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/system.h"

#include <filesystem>
#include <optional>
#include <string>

namespace tessera::molecular {

struct AmberTopology {
  System system;
  std::optional<Box> box;  ///< of BOX_DIMENSIONS; a restart's own box is the better one
  std::optional<Vec3> cell_angles_deg;  ///< of that box as the file has them (IFBOX)
  std::vector<data::Diagnostic> remarks;
};

/// Throws InputError with all places: E0701 a section is missing, given twice or has another length
/// than POINTERS says; E0303 numbers; E0702 an index or count out of range; E0703 a feature that is
/// not read (12-6-4, 10-12 hydrogen bonds, perturbed, polarizable, AMOEBA, LES, caps of solvent,
/// correction maps of several sizes).
AmberTopology read_amber_topology(const data::TextFile& text);

/// Positions, velocities and box of a restart of `n_atoms` atoms (of as many as it says where none
/// are expected). Throws InputError: E0704 other number of atoms, E0303 and E0309 numbers, E0701
/// the file is too short or too long. One block behind the positions of one or two atoms is as long
/// as velocities and as a box: it is the box where the topology has one, else velocities.
/// `cell_angles_deg` are the topology's, if it has a box: those of a restart that has lengths
/// alone.
Frame read_amber_restart(const data::TextFile& text, std::optional<std::size_t> n_atoms = {},
                         std::optional<Vec3> cell_angles_deg = {});

/// A NetCDF restart. Throws InputError: E0704 other number of atoms, E0740..E0742 a damaged file,
/// other conventions.
Frame read_amber_netcdf_restart(const data::BinaryInput& in,
                                std::optional<std::size_t> n_atoms = {});
/// A restart of either kind, which its first bytes tell.
Frame read_amber_restart(const std::filesystem::path& path, std::optional<std::size_t> n_atoms = {},
                         std::optional<Vec3> cell_angles_deg = {});

/// A topology of the system, whose energies are the same when it is read and its waters are made
/// rigid. Throws Error of what it cannot hold: terms other than harmonic bonds and angles and
/// periodic dihedrals, 1-4 pairs that do not follow from the types of their atoms by one factor,
/// virtual sites other than the fourth of a rigid water.
std::string amber_topology(const System& system, const Box& box);

/// A restart of seven decimals; cells that do not lie along x and the xy plane are known by their
/// lengths and angles alone. Throws Error of positions that do not fit into their columns (1000
/// nm).
std::string amber_restart(const Frame& frame, const std::string& title = "Tessera");
/// The bytes of a NetCDF restart, in double precision.
std::string amber_netcdf_restart(const Frame& frame, const std::string& title = "Tessera");
void write_amber_restart(const std::filesystem::path& path, const Frame& frame,
                         const std::string& title = "Tessera");

}  // namespace tessera::molecular
