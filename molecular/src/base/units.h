// SPDX-License-Identifier: Apache-2.0
// Units of files in those of the product: nm, kJ/mol, radians.
#pragma once
#include <numbers>

namespace tessera::molecular {

inline constexpr double angstrom = 0.1, kcal = 4.184, degree = std::numbers::pi / 180;

}  // namespace tessera::molecular
