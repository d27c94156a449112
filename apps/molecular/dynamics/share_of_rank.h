// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/dynamics/case.h"
#include "support/app.h"

#include <optional>

namespace tessera::apps::dynamics {

/// The most that a rank takes and sends: some steps of each stage are taken on as many ranks that
/// are threads, and counted. None where `estimate --ranks` does not ask, or no stage is divided.
std::optional<RankShare> share_of_rank(const RunOptions& how, const Case& c);

}  // namespace tessera::apps::dynamics
