// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/dynamics/case.h"
#include "molecular/dynamics/results.h"
#include "support/app.h"

namespace tessera::apps::dynamics {

/// Runs the stages of a case one after the other, from where a former run of the folder stopped.
data::ExitCode run_stages(RunContext& context, const Case& c, std::vector<Summary>& summaries);
/// What ranks other than the first do meanwhile.
void help_with_stages(HelpContext& with, const Case& c);

/// What speaks against going on from a checkpoint with other numbers of steps.
std::vector<data::Diagnostic> against(const data::Config& config, const Case& c,
                                      const data::Checkpoint& from);

}  // namespace tessera::apps::dynamics
