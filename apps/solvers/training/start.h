// SPDX-License-Identifier: Apache-2.0
// A training that begins with weights of another.
#pragma once
#include "solvers/training/model.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::training {

/// Weights of a file, or of the best epoch of a run, into those of the same name and type. Tells in
/// lines what was taken over, and by name what was not. Throws data::InputError E0673 where nothing
/// is.
std::vector<std::string> start_from(Network& network, const std::filesystem::path& run_or_file);

}  // namespace tessera::apps::training
