// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "electromagnetics/fdtd_monitor.h"
#include "support/app.h"

namespace tessera::apps::fdtd {

/// Steps a case to its end (or to where a former run of the folder stopped, and on). `results` are those of the monitors.
data::ExitCode step_case(RunContext& context, const Case& c, Results& results);

/// The step at which the rules that do not look at the fields end the run; 0 where none does.
std::int64_t fixed_end(const Case& c, double sources_end_s);

/// What speaks against going on from a checkpoint with another end.
std::vector<data::Diagnostic> against(const AppContext& context, const data::Checkpoint& from);

/// The case as a differentiable function of permittivities and of the strength of its sources, in float64.
Derivatives derivatives(const AppContext& context);

/// A small runnable case.
std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed);

}  // namespace tessera::apps::fdtd
