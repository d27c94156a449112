// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/forward.h"
#include "inversion/mt2d/invert.h"
#include "support/app.h"

namespace tessera::apps::mt2d {

data::ExitCode run_forward(RunContext& to, ForwardProblem p);
data::ExitCode run_invert(RunContext& to, const InvertProblem& p);

}  // namespace tessera::apps::mt2d
