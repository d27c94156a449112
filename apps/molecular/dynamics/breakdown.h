// SPDX-License-Identifier: Apache-2.0
// Why a stage broke down.
#pragma once
#include "molecular/dynamics/case.h"

#include <string>
#include <vector>

namespace tessera::apps::dynamics {

/// Lines for people on a step of stage `index` that failed: what its forces were before it, which
/// atom went astray in it, what to try. `start`: where the stage began; `last`: the frame before
/// the step; `after`: positions in it, null where there were none.
std::vector<std::string> why_it_failed(const Case& c, std::size_t index, const mol::StageStart& at,
                                       const mol::Frame& start, const Error& why,
                                       const mol::Frame& last, const mol::Frame* after);

}  // namespace tessera::apps::dynamics
