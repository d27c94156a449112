// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <cstdint>

namespace tessera::data {

/// Bytes; the most that one file may ask for.
inline std::uint64_t half_of_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) / 2 *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace tessera::data
