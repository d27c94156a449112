// SPDX-License-Identifier: Apache-2.0
//
// The ranks that `mpirun -n 4 tessera run case.toml` has started. Rank 0 does what a program alone
// does: it owns the run folder, the log, progress, signals and the exit code. The others are
// silent; they help where a case lets them.
#pragma once
#include "tessera/data/exit_code.h"
#include "tessera/parallel/communicator.h"

namespace tessera::apps {

/// This process prints; true where it is the only one. MPI is not loaded to tell.
bool is_first_rank();

class Ranks {
 public:
  /// One rank alone, or, `together`, those that MPI knows.
  explicit Ranks(bool together);

  parallel::Communicator& all() { return all_; }

  /// Rank 0 says, once, whether the others help; they hear it.
  void tell(bool help);
  bool hear();
  /// The others have done what they helped with.
  void helped() { helping_ = false; }
  /// Rank 0 has come to its end with this code: the others end, too, wherever they are.
  void end(data::ExitCode code);

 private:
  parallel::Communicator all_;
  bool told_ = false, helping_ = false;
};

}  // namespace tessera::apps
