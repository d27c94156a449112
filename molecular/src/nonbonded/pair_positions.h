// SPDX-License-Identifier: Apache-2.0
//
// Positions as the pair kernels take them, runs and derivatives alike: fractions of the edges of a
// box, multiples of 2^-52 in [0, 1), whose differences are exact.
#pragma once
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

/// Fractions of one position in a box; `over`: 1/edges along the diagonal.
inline Vec3 exact_fractions(const Box& box, const Vec3& over, const double* p) {
  Vec3 f;
  f[2] = p[2] * over[2];
  f[1] = (p[1] - f[2] * box.edge[2][1]) * over[1];
  f[0] = (p[0] - f[2] * box.edge[2][0] - f[1] * box.edge[1][0]) * over[0];
  for (double& c : f) c = (c - std::floor(c) + 1) - 1;  // a multiple of 2^-52
  return f;
}
inline Vec3 over_edges(const Box& box) {
  return {1 / box.edge[0][0], 1 / box.edge[1][1], 1 / box.edge[2][2]};
}

}  // namespace tessera::molecular
