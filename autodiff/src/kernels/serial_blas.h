// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <omp.h>

extern "C" void openblas_set_num_threads(int);

namespace tessera::kernels {

/// While one lives, BLAS and LAPACK calls of this thread run on this thread alone. OpenBLAS gives
/// different bits for different thread counts; our threads come from `parallel_chunks` over tiles
/// that only depend on the shape.
///
/// The OpenMP build of OpenBLAS asks omp_get_max_threads() at each call (and forgets
/// openblas_set_num_threads when the two differ), so the limit is set there, for this thread, and
/// put back. The pthread build keeps what openblas_set_num_threads says. Costs a few ns.
class SerialBlas {
 public:
  SerialBlas() : before_(omp_get_max_threads()) {
    static const bool once = (openblas_set_num_threads(1), true);
    static_cast<void>(once);
    omp_set_num_threads(1);
  }
  ~SerialBlas() { omp_set_num_threads(before_); }
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int before_;
};

}  // namespace tessera::kernels
