// SPDX-License-Identifier: Apache-2.0
//
// The peer's best: OPENBLAS_CORETYPE in the environment may hold OpenBLAS to kernels of an older processor, which
// run at half the rate where there are 512-bit vectors (61 instead of 98 GFLOP/s in double on one core of Zen 5).
#pragma once
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

extern "C" char* openblas_get_corename();

namespace bench {

/// Runs the program again without such variables: OpenBLAS chooses as it is loaded. To be called first in `main`.
inline void let_openblas_choose(char** argv) {
  if (std::getenv("OPENBLAS_CORETYPE")) {
    ::unsetenv("OPENBLAS_CORETYPE"), ::unsetenv("OPENBLAS_L2_SIZE");
    ::execv("/proc/self/exe", argv);
    std::perror("cannot run again without OPENBLAS_CORETYPE");
    std::exit(1);
  }
  std::printf("# OpenBLAS for %s\n", openblas_get_corename());
}

}  // namespace bench
