// SPDX-License-Identifier: Apache-2.0
// GROMACS's run parameters (.mdp) as a case of molecular.dynamics.
#pragma once
#include "molecular/dynamics/mdp_groups.h"
#include "support/app.h"
#include "tessera/data/text_file.h"

#include <string>

namespace tessera::apps::dynamics {

/// The TOML text of a case that does what the file says, with every default of GROMACS's that
/// matters written out. `stage` is the name of its stage. Throws InputError with all places: E0725
/// a line or key that is not mdp's, E0726 a value that is not supported (the hint says what is),
/// E0303 numbers. Remarks: E0727 keys that are obsolete, or that nothing here asks for.
Imported import_mdp(const data::TextFile& text, const std::string& stage,
                    const std::string& topology, const std::string& structure,
                    MdpGroups groups = {});

/// The same of a file, with the topology, the structure and the index of groups that lie beside it.
Imported import_mdp(const std::filesystem::path& path);

}  // namespace tessera::apps::dynamics
