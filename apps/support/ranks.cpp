// SPDX-License-Identifier: Apache-2.0
#include "support/ranks.h"

#include "tessera/parallel/mpi.h"

#include <iostream>
#include <limits>

namespace tessera::apps {

bool is_first_rank() { return parallel::mpi_rank() == 0; }

Ranks::Ranks(bool together) : all_(together ? parallel::mpi_communicator() : parallel::alone()) {}

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
  std::cout.flush();
  std::cerr.flush();
  parallel::end_all_ranks(static_cast<int>(code));
}

}  // namespace tessera::apps
