// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/forward.h"
#include "inversion/mt2d/invert.h"
#include "support/app.h"

namespace tessera::apps::mt2d {

data::ExitCode run_forward(RunContext& to, const data::Config& config, ForwardProblem p);
/// On meshes that are made finer until responses of what it finds are right (mesh.error).
data::ExitCode run_invert(RunContext& to, const data::Config& config, InvertProblem p);
data::ExitCode run_sample(RunContext& to, const data::Config& config, const InvertProblem& p);

/// True, or a warning that says why not.
bool can_write_vtk(data::Log& log);
/// What was read of files, and what is to be computed.
void tell_problem(data::Log& log, const InvertProblem& p);
/// Files and pictures of a run, and what files cannot tell.
void leave(RunContext& to, const Mt2dOptions& o, const Result& r);
struct Fit {
  double rms = 0, worst = 0;  ///< over all data; of a station
};
Fit fit_of(const Result& r);
/// Each expectation that is not met is an error in the log.
bool meets_expectations(data::Log& log, const Mt2dOptions& o, const Result& r);

}  // namespace tessera::apps::mt2d
