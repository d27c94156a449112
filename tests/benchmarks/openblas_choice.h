// SPDX-License-Identifier: Apache-2.0
//
// The peer's best at our width: OPENBLAS_CORETYPE in the environment may hold OpenBLAS to kernels
// of an older processor, which run at half the rate where there are 512-bit vectors (61 instead of
// 98 GFLOP/s in double on one core of Zen 5).
#pragma once
#include "peer_vectors.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

extern "C" char* openblas_get_corename();

namespace bench {

/// OpenBLAS and libtorch choose as they are loaded: runs the program again without variables that
/// hold OpenBLAS back, or with those that hold peers to our vectors. To be called first in `main`.
inline void let_openblas_choose(char** argv) {
  bool again = hold_peers_to_our_vectors();
  if (!vectors_are_held() && std::getenv("OPENBLAS_CORETYPE")) {
    ::unsetenv("OPENBLAS_CORETYPE"), ::unsetenv("OPENBLAS_L2_SIZE");
    again = true;
  }
  if (again) {
    ::execv("/proc/self/exe", argv);
    std::perror("cannot run again with another choice of OpenBLAS's kernels");
    std::exit(1);
  }
  std::printf("# vectors of %d bits, OpenBLAS for %s\n", tessera::vector_bits(),
              openblas_get_corename());
}

}  // namespace bench
