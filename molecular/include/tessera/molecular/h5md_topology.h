// SPDX-License-Identifier: Apache-2.0
//
// The atoms that an H5MD file (H5MD 1.1, nongnu.org/h5md) keeps beside its frames:
//
//   particles/NAME/species   [n]         integers; atomic numbers here, H5MD leaves them open
//   particles/NAME/mass      [n]         float64, amu
//   particles/NAME/charge    [n]         float64, e
//   connectivity/bonds       [bonds, 2]  integers, rows of the atoms; may be absent
//
// Trajectories with the ending .h5md have them (trajectory.h).
#pragma once
#include "tessera/molecular/system.h"

#include <filesystem>

namespace tessera::molecular {

/// Atoms and bonds of the first such NAME: each atom is a residue of its own, and both are called
/// by the element; numbers beyond 0 to 118 are no element (0). No terms of a force field. Bonds are
/// i < j, sorted, each once although some programs write it from both of its atoms. A file that is
/// being written may be read. Throws InputError E0428 where a dataset is missing or of another
/// kind, lengths differ or bonds are of atoms that are not there; E042x of files that are no HDF5.
System read_h5md_topology(const std::filesystem::path& path);

}  // namespace tessera::molecular
