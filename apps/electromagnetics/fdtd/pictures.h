// SPDX-License-Identifier: Apache-2.0
// Pictures of results.
#pragma once
#include "electromagnetics/fdtd/monitor.h"

#include <filesystem>
#include <vector>

namespace tessera::apps::fdtd {

/// The results, with the bodies of the case over maps of planes.
std::vector<std::filesystem::path> draw_results(const std::filesystem::path& folder,
                                                const Results& results, const CaseOptions& o);

}  // namespace tessera::apps::fdtd
