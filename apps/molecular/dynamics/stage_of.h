// SPDX-License-Identifier: Apache-2.0
// What the settings of a stage mean to the library.
#pragma once
#include "molecular/dynamics/options.h"
#include "tessera/molecular/stage.h"

namespace tessera::apps::dynamics {

/// A stage but for its name, type, steps, frames and precision. `of_input`: how the program counts
/// that the topology is from.
molecular::Stage stage_of(const Settings& settings, IntegratorChoice integrator,
                          molecular::Nonbonded::TailPairs of_input);

}  // namespace tessera::apps::dynamics
