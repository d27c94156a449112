// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/box.h"

#include <cmath>

namespace tessera::molecular {

/// A millimetre: no structure or box reaches so far, and cells of any list, counted from the
/// origin, still fit into whole numbers.
inline constexpr double farthest_nm = 1e6;
inline bool within_reach(const Vec3& x_nm) {
  return std::abs(x_nm[0]) <= farthest_nm && std::abs(x_nm[1]) <= farthest_nm &&
         std::abs(x_nm[2]) <= farthest_nm;
}
inline constexpr const char* out_of_reach =
    "lies more than a millimetre (1e6 nm) away from the origin";

}  // namespace tessera::molecular
