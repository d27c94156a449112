// SPDX-License-Identifier: Apache-2.0
// task = "invert": a section from the soundings of a line.
#pragma once
#include "inversion/mt2d/mesh.h"
#include "inversion/mt2d/results.h"
#include "tessera/inversion/section_inversion.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

/// All that an inversion works on.
struct InvertProblem {
  Mt2dOptions options;
  Input input;
  Ground ground;
  inversion::SectionScales scales;
  Fineness fineness;
  inversion::SectionMesh mesh;
  std::vector<double> frequency_hz;  ///< at which fields are computed, falling
  std::optional<inversion::SectionInversion> inversion;

  std::size_t cells() const { return static_cast<std::size_t>(mesh.parameters()); }
};

/// Mesh and ground of a case whose survey has stations; for `check`, without what takes time.
/// Throws data::InputError E0687 where memory does not hold it.
InvertProblem meshed(const data::Config& config, const Mt2dOptions& o, Input input);
/// E0687 where the memory of this machine does not hold it.
void require_memory(const data::Config& config, const InvertProblem& p);

/// Throws data::InputError E0689 (exit 5) for a polygon of model.fixed that holds no cell, a
/// model.tear that tears nothing, and a start from soundings where no station has three periods.
void check_model(const data::Config& config, const InvertProblem& p);

/// What an inversion on another mesh has come to, after so many steps.
struct GoOn {
  double mu = 1;
  int steps = 0;
};
/// Physics, prior and, unless it goes on from another mesh, the start that the options ask for.
void complete(const data::Config& config, InvertProblem& p, const std::optional<GoOn>& from = {});

/// Lines for the user: data, mesh, skin depths against cells.
std::vector<std::string> describe(const InvertProblem& p);
std::uint64_t bytes_of(const InvertProblem& p);

/// What was found where the steps have ended, or so far; with `bands` and what data see if asked.
Result invert_result(const InvertProblem& p, const inversion::SectionState& state, bool bands);

/// A row of metrics.csv.
StepRow row_of(const InvertProblem& p, const inversion::Iteration& step,
               const std::vector<double>& predicted);

}  // namespace tessera::apps::mt2d
