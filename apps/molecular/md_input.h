// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/md_case.h"

namespace tessera::apps::md {

/// Topology and positions of the files that the options name, by their endings.
void read_input(const data::Config& config, Case& c);

}  // namespace tessera::apps::md
