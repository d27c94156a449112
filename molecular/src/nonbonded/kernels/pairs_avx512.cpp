// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/kernels/pair_kernels.h"
#include "nonbonded/kernels/pair_levels.h"

#if defined(__x86_64__) && \
    (!defined(__clang__) || defined(__AVX512F__))  // clang knows no `#pragma GCC target`
// Everything below, and nothing of the headers above, is compiled for these instructions: no other
// source shares a function of it.
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12's own header, GCC PR 105593
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#include "nonbonded/kernels/lanes_avx512.h"
#include "nonbonded/kernels/pair_body.h"

namespace tessera::molecular::pairs {
const Kernels* avx512_kernels() {
  static constexpr Kernels k = kernels_of<Wide, WideTwice, WideCoarse>("avx512");
  return &k;
}
}  // namespace tessera::molecular::pairs
#pragma GCC pop_options
#else
const tessera::molecular::pairs::Kernels* tessera::molecular::pairs::avx512_kernels() {
  return nullptr;
}
#endif
