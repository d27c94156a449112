// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/dynamics/case.h"

namespace tessera::apps::dynamics {

/// Topology and positions of the files that the options name, by their endings.
void read_input(const data::Config& config, Case& c);

}  // namespace tessera::apps::dynamics
