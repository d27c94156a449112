// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::molecular {

/// Throws BuildError where so many atoms have no numbers, or take more memory than this machine
/// gives. `who` builds them.
void expect_room(const char* who, double atoms, double residues);

}  // namespace tessera::molecular
