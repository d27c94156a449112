// SPDX-License-Identifier: Apache-2.0
// The state of a training in a checkpoint, every leaf by its name.
#pragma once
#include "solvers/training/steps.h"
#include "tessera/data/checkpoint.h"

namespace tessera::apps::training {

void save_state(const State& s, data::Checkpoint& c);
/// Into a state that was begun for the same case.
void load_state(const data::Checkpoint& c, State& s);

}  // namespace tessera::apps::training
