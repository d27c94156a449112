// SPDX-License-Identifier: Apache-2.0
// Derivatives of S and of monitors of transforms in parameters of the case.
#pragma once
#include "electromagnetics/fdtd/run.h"
#include "support/app.h"

#include <cstdint>
#include <vector>

namespace tessera::apps::fdtd {

/// Throws InputError at the key of a monitor whose fields are taken where what moves lies.
void check_passes(const MonitoredCase& made, const data::Config& config);

/// Adds S_to_from_by_NAME to the result of S, QUANTITY_by_NAME to those of monitors: each name
/// takes a pass of all runs, of as many steps as these had, in float64, with the fields and their
/// derivatives side by side. One that is stopped begins anew when it is resumed.
data::ExitCode differentiate_in_passes(RunContext& context, const MonitoredCase& made,
                                       const std::vector<std::int64_t>& steps, Results& results);

}  // namespace tessera::apps::fdtd
