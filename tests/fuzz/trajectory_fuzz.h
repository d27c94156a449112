// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "processor_limit.h"
#include "tessera/molecular/trajectory.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace tessera::testing {

/// Any bytes give frames of finite positions, as many as the header says, or an InputError with the
/// place.
inline int fuzz_trajectory(const std::uint8_t* data, std::size_t size, const char* name) {
  const ProcessorLimit limit;
  try {
    const auto reader = molecular::open_trajectory(
        data::BinaryInput(name, std::string(reinterpret_cast<const char*>(data), size)));
    for (molecular::Snapshot s; reader->read(s);) {
      if (!s.frame.x_nm.empty() && s.frame.x_nm.size() != reader->n_atoms()) __builtin_trap();
      for (const molecular::Vec3& x : s.frame.x_nm)
        for (double v : x)
          if (!std::isfinite(v)) __builtin_trap();
    }
  } catch (const data::InputError& e) {
    if (!e.findings().front().place.byte || *e.findings().front().place.byte > size)
      __builtin_trap();
  }
  return 0;
}

}  // namespace tessera::testing
