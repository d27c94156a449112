// SPDX-License-Identifier: Apache-2.0
// Derivatives of S in parameters of the case.
#pragma once
#include "electromagnetics/fdtd/run.h"
#include "support/app.h"

#include <cstdint>
#include <vector>

namespace tessera::apps::fdtd {

/// Adds S_to_from_by_NAME to the result of S: each parameter takes a pass of all runs, of as many
/// steps as these had, in float64, with the fields and their derivatives side by side. One that is
/// stopped begins anew when it is resumed.
data::ExitCode differentiate_scattering(RunContext& context, const MonitoredCase& made,
                                        const std::vector<std::int64_t>& steps, Results& results);

}  // namespace tessera::apps::fdtd
