// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace tessera::data {

/// Random numbers by counter (Philox 4x32-10; Salmon et al. 2011, SC'11): the numbers depend on key
/// and counter alone, so any part of a computation can be repeated or resumed without a stored
/// generator.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< e.g. which sample of many, or which use within one
};

std::array<std::uint32_t, 4> philox(RandomKey key, std::uint64_t counter);
double uniform(RandomKey key, std::uint64_t counter);  ///< in (0, 1)
double normal(RandomKey key, std::uint64_t counter);   ///< standard normal (Box and Muller)

}  // namespace tessera::data
