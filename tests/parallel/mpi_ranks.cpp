// SPDX-License-Identifier: Apache-2.0
//
// What holds on threads holds on processes: started by mpirun. With an argument, what a rank does
// wrong: "mismatch", "missing", "error".
#include "dealt.h"
#include "tessera/autodiff/error.h"
#include "tessera/parallel/mpi.h"

#include <cstdio>
#include <cstring>

using namespace tessera;

int main(int argc, char** argv) {
  const auto wrong = [&](const char* what) { return argc > 1 && std::strcmp(argv[1], what) == 0; };
  if (!parallel::is_mpi_rank()) {
    std::fprintf(stderr, "start it with mpirun\n");
    return 2;
  }
  parallel::Communicator c = parallel::mpi_communicator();
  try {
    parallel::checks::all(c);
    parallel::checks::exchanges_are_transposed(c);
    if (wrong("error") && c.rank() == 1) throw Error("rank 1 is out of disk");
    if (wrong("mismatch") && c.rank() == 1) c.broadcast({}, 1);
    if (!wrong("missing") || c.rank() != 1) c.barrier();
    c.finish();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", c.rank(), e.what());
    parallel::end_all_ranks(7);
  }
  if (c.rank() == 0) std::printf("%d ranks: all holds\n", c.size());
}
