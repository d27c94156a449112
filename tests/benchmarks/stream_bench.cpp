// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth of this machine on one thread and on all.
#include "stream.h"

#include <omp.h>

int main() {
  tessera::benchmarks::print_stream(omp_get_max_threads());
  return 0;
}
