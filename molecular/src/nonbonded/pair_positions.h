// SPDX-License-Identifier: Apache-2.0
//
// The box that the pair kernels take positions in, runs and derivatives alike.
#pragma once
#include "system/exact_fractions.h"
#include "tessera/molecular/box.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tessera::molecular {

/// The box itself, or one more than twice as large as the n atoms at x where nothing is periodic.
inline Box stage(const double* x, std::size_t n, const Box& box) {
  if (is_periodic(box)) return box;
  Vec3 edge;
  for (std::size_t a = 0; a < 3; ++a) {
    double low = x[a], high = x[a];
    for (std::size_t i = 0; i < n; ++i) {
      low = std::min(low, x[3 * i + a]);
      high = std::max(high, x[3 * i + a]);
    }
    edge[a] = std::exp2(std::ceil(std::log2(std::max(2.01 * (high - low), 1e-3))));
  }
  return rectangular_box(edge);
}

}  // namespace tessera::molecular
