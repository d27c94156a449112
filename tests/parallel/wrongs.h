// SPDX-License-Identifier: Apache-2.0
//
// What a rank may do wrong, on three ranks or more: the run has to end, and say who was where.
#pragma once
#include "tessera/parallel/communicator.h"

#include <string>
#include <vector>

namespace tessera::parallel::checks {

/// The same of each rank, but for one; each throws.
struct Wrong {
  const char* name;
  void (*run)(Communicator& c);
  std::vector<std::string> told;  ///< what the error says, the names of both calls among it
};

inline const std::vector<Wrong>& wrongs() {
  static const std::vector<Wrong> all{
      {"missing",
       [](Communicator& c) {
         if (c.rank() != 1) c.all_gather(Bytes(8));
         c.barrier();
       },
       {"all-gather, wrongs.h:", "barrier, wrongs.h:"}},
      {"missing-at-the-end",
       [](Communicator& c) {
         if (c.rank() != 1) c.barrier();
         c.finish();
       },
       {"barrier, wrongs.h:", "end of the run, wrongs.h:"}},
      {"reordered",
       [](Communicator& c) {
         if (c.rank() == 1) c.barrier();
         c.broadcast(Bytes(8), 0);
         if (c.rank() != 1) c.barrier();
       },
       {"broadcast from rank 0, wrongs.h:", "barrier, wrongs.h:"}},
      {"misshaped",
       [](Communicator& c) {
         Bytes mine(16), came(c.rank() == 1 ? 24 : 16);
         const Send send{(c.rank() + 1) % c.size(), mine};
         const Receive receive{(c.rank() + c.size() - 1) % c.size(), came};
         c.exchange("ring", {&send, 1}, {&receive, 1});
         c.barrier();
       },
       {"ring, wrongs.h:", "rank 1 expects 24 bytes from rank 0, which sends 16"}},
      // Each waits for another, and nobody sends anything.
      {"crossed",
       [](Communicator& c) { c.broadcast({}, (c.rank() + 1) % c.size()); },
       {"in vain: rank", "broadcast from rank", "; rank"}},
      {"skipped-by-one-who-waits",
       [](Communicator& c) {  // rank 2 waits for rank 0's bytes, which come to rank 1 alone
         const Bytes mine(8);
         Bytes came(8);
         const Send send{1, mine};
         const Receive receive{0, came};
         c.exchange("to some", {&send, c.rank() == 0 ? 1U : 0U},
                    {&receive, c.rank() == 0 ? 0U : 1U});
         c.barrier();
       },
       {"rank 2 waits for rank 0 in vain", "to some, wrongs.h:", "barrier, wrongs.h:"}},
      {"channels",
       [](Communicator& c) {
         Channel other(c, c.rank() == 0 ? 1 : 0, "rows");
         Bytes into(8);
         other.receive(into);
       },
       {"in vain", "rows, wrongs.h:"}}};
  return all;
}

}  // namespace tessera::parallel::checks
