// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/checkpoint.h"

namespace tessera::detail {

/// Where `online` keeps snapshots while the end is not known.
///
/// Q. Wang, P. Moin, G. Iaccarino 2009, algorithm 1: each snapshot has a level. It is dispensable
/// once a later one has a higher level. Where room is needed and none is dispensable, the last one
/// moves on and rises by one level.
class OnlinePlacement {
 public:
  explicit OnlinePlacement(Index snapshots) : limit_(snapshots) {}
  /// State k = 0, 1, ... is at hand: the slot it goes to, or -1.
  int place(Index k);
  /// The actions that reverse n steps from the snapshots there are; the state is n.
  void reverse(Index n, std::vector<CheckpointAction>& actions) const;

 private:
  struct Kept {
    Index state;
    Index level;
    int slot;
  };
  Index limit_;
  std::vector<Kept> kept_;
};

/// Throws unless the actions, begun with state 0, run the reverse steps n-1 ... 0 on the right
/// states.
void check_schedule(const std::vector<CheckpointAction>& actions, Index n);

}  // namespace tessera::detail
