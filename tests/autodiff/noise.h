// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops.h"

#include <cstdint>

namespace tessera::testing {

/// Normal deviates of a seed; real and imaginary part each where `complex`.
inline Tensor noise(const Shape& s, std::uint64_t seed, bool complex = false) {
  const Tensor x = normal(random_key(seed), s);
  return complex ? tessera::complex(x, normal(random_key(seed + 1000), s)) : x;
}

}  // namespace tessera::testing
