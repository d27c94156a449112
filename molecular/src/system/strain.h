// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/box.h"

#include <cmath>

namespace tessera::molecular {

/// Bound of | |d'| - |d| |/|d| between two boxes, displacements d given by fractions: the largest
/// stretch of h^-1 h' - 1.
inline double strain(const Box& before, const Box& now) {
  if (now == before) return 0;
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const Vec3 f = fractions(before, {a == 0 ? 1.0 : 0.0, a == 1 ? 1.0 : 0.0, a == 2 ? 1.0 : 0.0});
    Vec3 d = from_fractions(now, f);
    d[a] -= 1;
    sum += d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  }
  return std::sqrt(sum);
}

/// What rounding of positions and distances may add to a way, of lists of that radius.
constexpr double slip(double radius) { return 1e-6 * radius; }

}  // namespace tessera::molecular
