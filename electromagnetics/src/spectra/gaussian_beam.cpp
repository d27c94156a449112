// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/gaussian_beam.h"

#include "spectra/directions.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::electromagnetics {

GaussianBeam gaussian_beam(const char* operation, const Point& position, const Point& direction,
                           const Point& polarization, double waist, double focus,
                           const std::array<bool, 3>& resolved) {
  if (!(waist > 0)) throw Error(fmt::format("[{}] needs a positive waist", operation));
  GaussianBeam b{.waist = waist, .resolved = resolved};
  b.direction = detail::normalised(direction, operation, "direction");
  b.polarization = detail::transverse(polarization, b.direction, operation);
  for (std::size_t d = 0; d < 3; ++d) {
    if (!resolved[d] && b.direction[d] != 0)
      throw Error(fmt::format("[{}] the direction has {} along {}, which the grid does not resolve",
                              operation, b.direction[d], "xyz"[d]));
    b.focus[d] = position[d] + focus * b.direction[d];
  }
  if (std::count(resolved.begin(), resolved.end(), true) < 2)
    throw Error(fmt::format("[{}] a beam needs two or three dimensions; in one take a plane wave",
                            operation));
  return b;
}

}  // namespace tessera::electromagnetics
