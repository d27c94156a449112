// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "electromagnetics/fdtd/run.h"

namespace tessera::apps::fdtd {

/// What the monitors of a run have found, and what it says about their spectra.
void results_of_run(RunContext& context, const MonitoredCase& made, std::size_t number,
                    double time_s, Results& results);

}  // namespace tessera::apps::fdtd
