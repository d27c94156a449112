// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "solvers/training/run.h"

namespace tessera::apps::training {

/// Memory as the plans of a step say it, time by some steps that are taken, or by the roofline
/// where a step does not fit or takes too long; a table of layers.
Estimate estimate_training(const Problem& p);

}  // namespace tessera::apps::training
