// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "synthetic_sounding.h"

#include <cstdint>

/// A conductor between resistors: the earth of several tests.
namespace tessera::inversion::three_layers {

inline const std::vector<double> rho{100, 5, 800}, h{400, 1500};

/// Its sounding at `n` frequencies with noise of 5 % (times `noise`).
inline Response noisy(int n, std::uint64_t seed = 4, double noise = 1) {
  std::mt19937_64 random(seed);
  return oracle::synthetic(oracle::log_frequencies(1e-3, 300, n), rho, h, 0.05, noise, random);
}

}  // namespace tessera::inversion::three_layers
