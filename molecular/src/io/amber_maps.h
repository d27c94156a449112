// SPDX-License-Identifier: Apache-2.0
//
// Correction maps of topologies (ff19SB, and CHARMM's in CHAMBER topologies). Layouts: Crowley,
// Williamson & Walker, Int. J. Quantum Chem. 109 (2009) 3767; ambermd.org/FileFormats.php.
#pragma once
#include "io/amber_sections.h"
#include "tessera/molecular/system.h"

namespace tessera::molecular {

/// CMAP_COUNT, CMAP_RESOLUTION, CMAP_PARAMETER_nn, CMAP_INDEX, each also with CHARMM_ before it;
/// `most`: size of the file.
void read_amber_maps(AmberSections& file, data::Findings& findings, std::size_t most,
                     System& system);
}  // namespace tessera::molecular
