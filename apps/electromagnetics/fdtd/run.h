// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "electromagnetics/fdtd/monitor.h"
#include "support/app.h"

namespace tessera::apps::fdtd {

/// A case with its monitors, which refer to it.
struct MonitoredCase {
  Case c;
  std::vector<std::unique_ptr<Monitor>> monitors;
};

/// Steps a case to its end (or to where a former run of the folder stopped, and on). `results` are
/// those of the monitors.
data::ExitCode step_case(RunContext& context, MonitoredCase& made, Results& results);

/// What the other ranks do meanwhile: they hold slabs of the grid.
void help_with_steps(HelpContext& with, MonitoredCase& made);

/// From a look at the fields, their energy and the stop rule, to the next.
std::int64_t steps_between_checks(const Case& c);

/// The step at which the rules that do not look at the fields end the run; 0 where none does.
std::int64_t fixed_end(const Case& c, double sources_end_s);

/// What speaks against going on from a checkpoint with another end.
std::vector<data::Diagnostic> against(const data::Config& config, const Case& c,
                                      const data::Checkpoint& from);

/// Throws InputError E0642 where the case has no derivatives.
void check_differentiable(const Case& c, const data::Config& config);
/// The case, which is in float64, as a differentiable function of permittivities and of the
/// strength of its sources, on all ranks. Monitors that have nothing to tell are taken out.
Derivatives derivatives(std::shared_ptr<MonitoredCase> made, parallel::Communicator& ranks,
                        const std::vector<double>& weights);

/// A small runnable case.
std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed);

}  // namespace tessera::apps::fdtd
