// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/box.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tessera::molecular {

/// Square of how far the point that moved most has come [nm^2], of points [begin, end) that are
/// fractions of the edges in units of 2^-32 and were at `then`; in single precision, whose rounding
/// is far below `slip` (strain.h).
inline float furthest(const Box &box, const std::array<const std::int32_t *, 3> &now,
                      const std::array<const std::int32_t *, 3> &then, std::size_t begin,
                      std::size_t end) {
  std::int32_t most = 0;  // numbers that are not negative stand in the order of their bits, whose
                          // maximum vectorizes
  float h[3][3];
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      h[a][b] = static_cast<float>(std::ldexp(box.edge[a][b], -32));
  const std::int32_t *const x = now[0], *const y = now[1], *const z = now[2], *const x0 = then[0],
                            *const y0 = then[1], *const z0 = then[2];
  const auto by = [](std::int32_t to, std::int32_t from) {
    return static_cast<float>(static_cast<std::int32_t>(static_cast<std::uint32_t>(to) -
                                                        static_cast<std::uint32_t>(from)));
  };
  for (std::size_t at = begin; at < end; ++at) {
    const float a = by(x[at], x0[at]), b = by(y[at], y0[at]), c = by(z[at], z0[at]);
    const float dx = a * h[0][0] + b * h[1][0] + c * h[2][0], dy = b * h[1][1] + c * h[2][1],
                dz = c * h[2][2];
    most = std::max(most, std::bit_cast<std::int32_t>(dx * dx + dy * dy + dz * dz));
  }
  return std::bit_cast<float>(most);
}

}  // namespace tessera::molecular
