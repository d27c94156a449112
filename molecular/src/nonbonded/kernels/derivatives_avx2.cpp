// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/kernels/pair_derivative_kernels.h"

#if defined(__x86_64__)
#include <cstring>
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12's own header, GCC PR 105593
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("arch=x86-64-v3")
#include "nonbonded/kernels/lanes_avx2.h"
#include "nonbonded/kernels/pair_derivative_body.h"

namespace tessera::molecular::pairs {
const DerivativeKernels* avx2_derivatives() {
  static constexpr DerivativeKernels k = derivative_kernels_of<Narrow, NarrowTwice>();
  return &k;
}
}  // namespace tessera::molecular::pairs
#pragma GCC pop_options
#else
const tessera::molecular::pairs::DerivativeKernels* tessera::molecular::pairs::avx2_derivatives() {
  return nullptr;
}
#endif
