// SPDX-License-Identifier: Apache-2.0
//
// Constants that several tests share: lengths, faces, and points counted in cells.
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/geometry.h"

#include <numbers>

namespace tessera::electromagnetics {

inline constexpr double two_pi = 2 * std::numbers::pi;
inline constexpr double um = 1e-6;
inline constexpr Faces pml{}, pec{Boundary::pec, Boundary::pec}, pmc{Boundary::pmc, Boundary::pmc};
inline constexpr Faces joined{Boundary::periodic, Boundary::periodic};

/// Cells of 5 mm, for waves of some GHz, and points counted in them.
inline constexpr double cell = 5e-3;
inline Point cells(double x, double y, double z) { return {x * cell, y * cell, z * cell}; }

}  // namespace tessera::electromagnetics
