// SPDX-License-Identifier: Apache-2.0
// Transforms of a run that a port drives, for 1 W at it.
#pragma once
#include "electromagnetics/fdtd/run.h"

#include <cstddef>

namespace tessera::apps::fdtd {

/// [frequency] What a wave of 1 W is of `in`, the wave of S that comes in, or of what comes in for
/// 1 W that is taken; |all_in|^2 - |all_out|^2 is the power through the port (with_images).
Tensor of_a_watt(PerWatt wave, const Tensor& in, const Tensor& all_in, const Tensor& all_out);

/// Turns transforms of a run's monitors into what they are for 1 W at its port, where the case asks
/// for that (ScatteringOptions::per_watt).
void per_watt(const MonitoredCase& made, std::size_t run, Results& results);

}  // namespace tessera::apps::fdtd
