// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/kernels/pair_kernels.h"
#include "nonbonded/kernels/pair_levels.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#include "nonbonded/kernels/lanes_avx2.h"
#include "nonbonded/kernels/pair_body.h"

namespace tessera::molecular::pairs {
const Kernels* avx2_kernels() {
  static constexpr Kernels k = kernels_of<Narrow, NarrowTwice, NarrowCoarse>("avx2");
  return &k;
}
}  // namespace tessera::molecular::pairs
#pragma GCC pop_options
#else
const tessera::molecular::pairs::Kernels* tessera::molecular::pairs::avx2_kernels() {
  return nullptr;
}
#endif
