// SPDX-License-Identifier: Apache-2.0
//
// Positions as fractions of the edges of a box, multiples of 2^-52 in [0, 1), whose differences are
// exact: what the pair kernels take, and by what ranks tell whose an atom is.
#pragma once
#include "tessera/molecular/box.h"

#include <cmath>
#include <cstddef>

namespace tessera::molecular {

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
/// Those of the positions x [n]; false where a coordinate is not a number.
inline bool exact_fractions(const Box& box, const Vec3* x, std::size_t n, Vec3* to) {
  const Vec3 over = over_edges(box);
  bool all = true;
  for (std::size_t k = 0; k < n; ++k) {
    to[k] = exact_fractions(box, over, x[k].data());
    all = all && std::isfinite(to[k][0] + to[k][1] + to[k][2]);
  }
  return all;
}

}  // namespace tessera::molecular
