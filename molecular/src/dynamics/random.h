// SPDX-License-Identifier: Apache-2.0
//
// Streams of random numbers: no two uses share one.
#pragma once
#include "tessera/data/random.h"

#include <cstdint>

namespace tessera::molecular {

enum Stream : std::uint64_t {
  velocities = 1,
  friction = 2,
  collisions = 3,
  new_velocities = 4,
  rescaling = 5,
  box_noise = 6,
  box_trials = 7
};

inline double normal_of(std::uint64_t seed, Stream stream, std::uint64_t step, std::uint64_t n,
                        std::uint64_t atom, std::uint64_t component) {
  return data::normal({seed, stream}, 3 * (step * n + atom) + component);
}

}  // namespace tessera::molecular
