// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/vec.h"
#include "tessera/molecular/box.h"

#include <cstdint>
#include <vector>

namespace tessera::molecular {

/// x_a - x_b for atoms that should be no farther apart than `longest`: the nearest image where they
/// are in others.
inline Vec3 between(const std::vector<Vec3>& x, std::int32_t a, std::int32_t b, double longest,
                    const Box& box) {
  const Vec3 &u = x[static_cast<std::size_t>(a)], &v = x[static_cast<std::size_t>(b)];
  const Vec3 d = {u[0] - v[0], u[1] - v[1], u[2] - v[2]};
  return dot(d, d) > 2 * longest * longest ? wrapped(box, d) : d;
}

}  // namespace tessera::molecular
