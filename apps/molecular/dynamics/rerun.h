// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/config.h"

#include <filesystem>
#include <string>

namespace tessera::apps::dynamics {

/// The case with one stage alone, which looks at the frames of a trajectory with the interactions
/// of `stage` (empty: the last): forces are written to a format that has a place for them; springs
/// of posres, which hold to where a stage began, are left out. Throws InputError E0751 where there
/// is no such stage.
std::string rerun_case(const data::Config& config, const std::filesystem::path& trajectory,
                       const std::string& stage);

}  // namespace tessera::apps::dynamics
