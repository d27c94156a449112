// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/kernels/lanes_portable.h"
#include "nonbonded/kernels/slope_body.h"

namespace tessera::molecular::pairs {

const SlopeKernels* portable_slopes() {
  static constexpr SlopeKernels k = slope_kernels_of<Plain<double>, true>();
  return &k;
}

std::span<const SlopeKernels* const> slope_kernels() {
  static const std::array<const SlopeKernels*, 3> all = {portable_slopes(), avx2_slopes(), avx512_slopes()};
  return {all.data(), kernels().size()};
}

}  // namespace tessera::molecular::pairs
