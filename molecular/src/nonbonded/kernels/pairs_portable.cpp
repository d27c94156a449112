// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/kernels/lanes_portable.h"
#include "nonbonded/kernels/pair_body.h"
#include "nonbonded/kernels/pair_levels.h"

#include <vector>

namespace tessera::molecular::pairs {

const Kernels* portable_kernels() {
  static constexpr Kernels k = kernels_of<Plain<float>, Plain<double>, PlainCoarse>("portable");
  return &k;
}

std::span<const Kernels* const> kernels() {
  static const std::vector<const Kernels*> all = [] {
    std::vector<const Kernels*> k = {portable_kernels()};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) k.push_back(avx2_kernels());
    if (k.size() == 2 && avx512_kernels() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      k.push_back(avx512_kernels());
#endif
    return k;
  }();
  return all;
}

}  // namespace tessera::molecular::pairs
