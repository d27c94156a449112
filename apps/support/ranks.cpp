// SPDX-License-Identifier: Apache-2.0
#include "support/ranks.h"

#include "tessera/parallel/mpi.h"

#include <chrono>
#include <iostream>
#include <limits>
#include <thread>

namespace tessera::apps {

bool is_first_rank() { return parallel::mpi_rank() == 0; }

void Ranks::tell(bool help) {
  told_ = true;
  helping_ = help && all_.size() > 1;
  all_.broadcast({static_cast<std::byte>(help)});
}

bool Ranks::hear() {
  const parallel::Patience before = all_.patience;
  all_.patience.tell = std::numeric_limits<double>::infinity();  // rank 0 reads and checks
  const bool help = all_.broadcast({}).at(0) != std::byte{0};
  all_.patience = before;
  return help;
}

void Ranks::end(data::ExitCode code) {
  if (all_.size() == 1) return;
  if (!told_) tell(false);
  if (!helping_) return;
  if (!processes_) return all_.fail("has come to its end", static_cast<int>(code));
  std::cout.flush();
  std::cerr.flush();
  parallel::end_all_ranks(static_cast<int>(code));
}

void Ranks::fail(const std::string& text, data::ExitCode code) {
  all_.fail(text, static_cast<int>(code));
  wait_for_the_end();
}

void Ranks::wait_for_the_end() {
  if (!processes_) return;
  std::this_thread::sleep_for(std::chrono::seconds(60));  // rank 0 may be in a long step
  parallel::end_all_ranks(static_cast<int>(data::ExitCode::internal_fault));
}

}  // namespace tessera::apps
