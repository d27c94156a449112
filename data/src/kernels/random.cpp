// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace tessera::data {
namespace {

double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

}  // namespace

std::array<std::uint32_t, 4> philox(RandomKey key, std::uint64_t counter) {
  const r123::Philox4x32::ctr_type c{
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
       static_cast<std::uint32_t>(key.stream), static_cast<std::uint32_t>(key.stream >> 32)}};
  const r123::Philox4x32::key_type k{
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}};
  const auto r = r123::Philox4x32{}(c, k);
  return {r[0], r[1], r[2], r[3]};
}

double uniform(RandomKey key, std::uint64_t counter) {
  const auto r = philox(key, counter);
  return open_unit(r[0], r[1]);
}

double normal(RandomKey key, std::uint64_t counter) {
  const auto r = philox(key, counter);
  return std::sqrt(-2 * std::log(open_unit(r[0], r[1]))) *
         std::cos(2 * std::numbers::pi * open_unit(r[2], r[3]));
}

}  // namespace tessera::data
