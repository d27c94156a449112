// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/text_file.h"
#include "tessera/molecular/system.h"

namespace tessera::molecular {

/// XYZ: a number, a comment with Lattice="ax ay az bx by bz cx cy cz" where there is a box, then
/// symbol x y z; lengths in angstrom. With pbc="F F F" the lattice is none. A cell that does not
/// lie along x and the xy plane is turned there, and its atoms with it. Of several frames the
/// first; symbols are not looked at. Throws data::InputError E0701 to E0703.
Frame read_xyz(const data::TextFile& text);

}  // namespace tessera::molecular
