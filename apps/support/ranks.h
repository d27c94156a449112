// SPDX-License-Identifier: Apache-2.0
//
// The ranks that `mpirun -n 4 tessera run case.toml` or `--ranks threads:4` has started. Rank 0
// does what a program alone does: it owns the run folder, the log, progress, signals and the exit
// code. The others are silent; they help where a case lets them.
#pragma once
#include "tessera/data/exit_code.h"
#include "tessera/parallel/communicator.h"

namespace tessera::apps {

/// This process prints; true where it is the only one. MPI is not loaded to tell.
bool is_first_rank();

class Ranks {
 public:
  /// Those of the communicator, which are processes or threads of this one.
  Ranks(parallel::Communicator& all, bool processes) : all_(all), processes_(processes) {}

  parallel::Communicator& all() { return all_; }
  bool processes() const { return processes_; }

  /// Rank 0 says, once, whether the others help; they hear it.
  void tell(bool help);
  bool hear();
  /// The others have done what they helped with.
  void helped() { helping_ = false; }
  /// Rank 0 has come to its end with this code: the others end, too, wherever they are.
  void end(data::ExitCode code);
  /// One of the others cannot go on: rank 0 reports it, and ends all.
  void fail(const std::string& text, data::ExitCode code);
  /// Another one cannot: waits to be ended.
  void wait_for_the_end();

 private:
  parallel::Communicator& all_;
  bool processes_, told_ = false, helping_ = false;
};

}  // namespace tessera::apps
