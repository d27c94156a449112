// SPDX-License-Identifier: Apache-2.0
// Derivatives of S and of monitors of transforms in parameters of the case.
#pragma once
#include "electromagnetics/fdtd/run.h"
#include "support/app.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::apps::fdtd {

/// Throws InputError at the key of a monitor whose fields are taken where what moves lies.
void check_passes(const MonitoredCase& made, const data::Config& config);

/// What a pass adds: quantities, each to the result of a name.
using Pass = std::vector<std::pair<std::string, Quantity>>;

void save_passes(const std::vector<Pass>& ended, data::Checkpoint& out);
/// Those of a checkpoint; it may have none.
std::vector<Pass> load_passes(const data::Checkpoint& in);

/// Adds S_to_from_by_NAME to the result of S, QUANTITY_by_NAME to those of monitors: each name
/// takes a pass of all runs, of as many steps as these had, in float64, with the fields and their
/// derivatives side by side. Goes on behind those that have `ended`, calls `save` after each that
/// ends; one that is stopped begins anew when the run is resumed.
data::ExitCode differentiate_in_passes(RunContext& context, const MonitoredCase& made,
                                       const std::vector<std::int64_t>& steps,
                                       std::vector<Pass>& ended, const std::function<void()>& save,
                                       Results& results);

}  // namespace tessera::apps::fdtd
