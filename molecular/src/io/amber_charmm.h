// SPDX-License-Identifier: Apache-2.0
//
// What topologies have beyond the classical terms: correction maps (ff19SB), and the terms of
// CHARMM in CHAMBER topologies. Layouts: Crowley, Williamson & Walker, Int. J. Quantum Chem. 109
// (2009) 3767; ambermd.org/FileFormats.php.
#pragma once
#include "io/amber_sections.h"
#include "tessera/molecular/system.h"

namespace tessera::molecular {

/// CMAP_COUNT, CMAP_RESOLUTION, CMAP_PARAMETER_nn, CMAP_INDEX, each also with CHARMM_ before it;
/// `most`: size of the file.
void read_amber_maps(AmberSections& file, data::Findings& findings, std::size_t most,
                     System& system);
/// CHARMM_UREY_BRADLEY and CHARMM_IMPROPERS with their tables.
void read_chamber_terms(AmberSections& file, data::Findings& findings, std::size_t most,
                        System& system);

}  // namespace tessera::molecular
