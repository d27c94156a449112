// SPDX-License-Identifier: Apache-2.0
// What every run that goes by steps leaves behind, whatever its steps are: a row of metrics.csv and
// a line of progress for each, checkpoints, and the state that a resumed run goes on from.
#pragma once
#include "support/app.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::apps {

struct StepOptions {
  std::string app;                   ///< as checkpoints have it
  std::string phase, unit;           ///< of the progress: "descent", "iterations"
  std::uint64_t total = 0;           ///< steps at most; 0: unknown
  std::vector<std::string> columns;  ///< of metrics.csv; the first is the number of the step
  std::vector<data::InputFile> inputs;
  /// State of the steps into a checkpoint and back. The record adds its own: "history",
  /// "metrics_bytes".
  std::function<void(data::Checkpoint&)> save;
  std::function<void(const data::Checkpoint&)> load;
};

/// Made before the first step; goes on from the newest checkpoint of the run folder, if there is
/// one.
///
///     StepRecord record(context, {...});
///     if (!record.resumed()) record.note(row_of(state));
///     while (!ended(state)) {
///       step(state);
///       record.note(row_of(state), {{"rms", state.rms}});
///       if (!record.go_on()) return data::ExitCode::stopped_resumable;
///     }
///     record.finish();
class StepRecord {
 public:
  /// The context outlives it. Throws data::InputError where a checkpoint belongs to another case.
  StepRecord(RunContext& context, StepOptions options);
  ~StepRecord();

  bool resumed() const;
  /// A row with a number for each column. `shown` goes to the line of progress.
  void note(std::vector<double> row, const std::vector<std::pair<std::string, double>>& shown = {});
  const std::vector<std::vector<double>>& history() const;  ///< all rows, also of before a resume
  /// After a step that is not the last: false where the run is to stop; its checkpoint is written
  /// then, as it is every --checkpoint-every.
  bool go_on();
  void finish();  ///< ends the progress and writes the last checkpoint
  void fail();    ///< ends the progress: the steps cannot go on

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::apps
