// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "solvers/training/model.h"
#include "support/app.h"

namespace tessera::apps::training {

/// A case as the verbs ask it.
struct Problem {
  Options options;
  Samples samples;
  data::Split split;
  Model model;                     ///< with first weights
  std::vector<std::string> start;  ///< what is told before the first step
  std::vector<data::InputFile> inputs;

  /// Steps of an epoch.
  std::int64_t steps() const;
};

data::ExitCode run_training(RunContext& context, Problem& p);

}  // namespace tessera::apps::training
