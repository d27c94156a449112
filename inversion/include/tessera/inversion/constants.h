// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <numbers>

namespace tessera::inversion {

/// Vacuum permeability of magnetotellurics in H/m: exactly 4 pi 1e-7, on which its reference tables
/// and files stand (that of electromagnetics is measured, CODATA).
inline constexpr double mu0 = 4e-7 * std::numbers::pi;
/// One field unit of impedance, 1 mV/km/nT (E/B), as E/H in ohm: 1e3 mu0 = 4 pi 1e-4.
inline constexpr double ohm_per_field_unit = 4e-4 * std::numbers::pi;

}  // namespace tessera::inversion
