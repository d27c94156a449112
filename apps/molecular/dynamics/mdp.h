// SPDX-License-Identifier: Apache-2.0
// GROMACS's run parameters (.mdp) as a case of molecular.dynamics.
#pragma once
#include "support/app.h"
#include "tessera/molecular/mdp.h"

#include <filesystem>
#include <string>

namespace tessera::apps::dynamics {

/// The TOML text of a case that does what the file says, with every default of GROMACS's that
/// matters written out. `flexible_waters`: the topology may have some, which stay so beside rigid
/// bonds.
std::string case_text(const molecular::Mdp& mdp, const std::string& topology,
                      const std::string& structure, bool flexible_waters);

/// That of a file, with the topology, the structure and the index of groups that lie beside it, as
/// they are named from `case_folder`. Throws as read_mdp and the readers of these.
Imported import_mdp(const std::filesystem::path& path, const std::filesystem::path& case_folder);

}  // namespace tessera::apps::dynamics
