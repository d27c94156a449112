// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/box.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tessera::molecular {

/// All pairs i < j closer than `radius_nm` that are not among `excluded` (sorted, i < j), sorted by i, then j. The radius may be
/// at most half of the box's smallest width.
std::vector<std::array<std::int32_t, 2>> near_pairs(const Vec3* x, std::size_t n, const Box& box, double radius_nm,
                                                    const std::vector<std::array<std::int32_t, 2>>& excluded);

}  // namespace tessera::molecular
