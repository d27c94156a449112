// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/boundary.h"

#include <vector>

namespace tessera::electromagnetics::guides {

inline constexpr Faces walls{Boundary::pec, Boundary::pec}, mirrors{Boundary::pmc, Boundary::pmc},
    layers{Boundary::pml, Boundary::pml}, period{Boundary::periodic, Boundary::periodic};

/// Lines of so many cells, from 0.
inline std::vector<double> even(int cells, double cell) {
  std::vector<double> out;
  for (int i = 0; i <= cells; ++i) out.push_back(i * cell);
  return out;
}

}  // namespace tessera::electromagnetics::guides
