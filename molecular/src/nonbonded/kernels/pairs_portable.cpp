// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/kernels/lanes_portable.h"
#include "nonbonded/kernels/pair_body.h"
#include "nonbonded/kernels/pair_levels.h"
#include "tessera/autodiff/vectors.h"

#include <vector>

namespace tessera::molecular::pairs {

const Kernels* portable_kernels() {
  static constexpr Kernels k = kernels_of<Plain<float>, Plain<double>, PlainCoarse>("portable");
  return &k;
}

std::span<const Kernels* const> kernels() {
  static const std::vector<const Kernels*> all = [] {
    std::vector<const Kernels*> k = {portable_kernels()};
    if (vector_bits() >= 256) k.push_back(avx2_kernels());
    if (vector_bits() == 512 && avx512_kernels()) k.push_back(avx512_kernels());
    return k;
  }();
  return all;
}

}  // namespace tessera::molecular::pairs
