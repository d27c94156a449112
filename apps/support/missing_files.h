// SPDX-License-Identifier: Apache-2.0
// Files that are not there are told where the case names them.
#pragma once
#include "tessera/data/config.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps {

/// "did you mean 'soundings'?": what stands beside a path that is not there, or beside the first of
/// its folders that is not; or nothing.
std::string nearest_file_hint(const std::filesystem::path& path);

/// Findings about a file that is not there, at the key whose value it is, as E0401; the others as
/// they are.
std::vector<data::Diagnostic> at_keys(const data::Config& config,
                                      std::vector<data::Diagnostic> findings);

}  // namespace tessera::apps
