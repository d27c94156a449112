// SPDX-License-Identifier: Apache-2.0
// Transforms of a run that a port drives, for 1 W at it.
#pragma once
#include "electromagnetics/fdtd/run.h"

#include <cstddef>

namespace tessera::apps::fdtd {

/// [frequency] What a wave of 1 W is of `in`, the wave of S that comes in, or of what comes in for
/// 1 W that is taken; `own_in` and `own_out` are waves of the port itself, whose |a|^2 - |b|^2 is
/// power.
Tensor of_a_watt(PerWatt wave, const Tensor& in, const Tensor& own_in, const Tensor& own_out);

/// Turns transforms of a run's monitors into what they are for 1 W at its port, where the case asks
/// for that (ScatteringOptions::per_watt).
void per_watt(const MonitoredCase& made, std::size_t run, Results& results);

}  // namespace tessera::apps::fdtd
