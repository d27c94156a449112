// SPDX-License-Identifier: Apache-2.0
//
// The ranks that `mpirun -n 4 tessera run case.toml` or `--ranks threads:4` has started. Rank 0
// does what a program alone does: it owns the run folder, the log, progress, signals and the exit
// code. The others are silent; they help where a case lets them.
#pragma once
#include "tessera/data/exit_code.h"
#include "tessera/parallel/communicator.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

namespace tessera::apps {

/// This process prints; true where it is the only one. MPI is not loaded to tell.
bool is_first_rank();

class Ranks {
 public:
  /// Those of the communicator, which are processes or threads of this one.
  Ranks(parallel::Communicator& all, bool processes) : all_(all), processes_(processes) {}

  parallel::Communicator& all() { return all_; }
  bool processes() const { return processes_; }

  /// Whom this rank waits for is told so while the result lives.
  std::shared_ptr<void> waits_told(std::function<void(const std::string&)> say);

  /// Rank 0 says, once, whether the others help, and returns when they are ready to. They hear it,
  /// make the case ready, and say so. They have to see the folder of the run, which need not be
  /// there yet; nothing is left in it.
  void tell(bool help, const std::filesystem::path& folder);
  bool hear();
  void ready();
  /// What a rank has sent to others.
  struct Sent {
    std::uint64_t bytes = 0, messages = 0;
  };
  /// The others have done what they helped with, and tell what they have sent; rank 0 has the most
  /// of each.
  Sent helped();
  void tell_sent();
  /// Rank 0 has come to its end with this code: the others end, too, wherever they are.
  void end(data::ExitCode code);
  /// One of the others cannot go on: rank 0 reports it, and ends all.
  void fail(const std::string& text, data::ExitCode code);
  /// One of the others has waited for another one in vain. Where that is rank 0 it says so itself
  /// and ends all.
  void lost(const parallel::WaitedInVain& e);
  /// Another one cannot: waits to be ended.
  void wait_for_the_end();

 private:
  [[noreturn]] void end_all(data::ExitCode code);

  parallel::Communicator& all_;
  bool processes_, told_ = false, helping_ = false;
  std::filesystem::path seen_;  ///< what all have to see
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::apps
