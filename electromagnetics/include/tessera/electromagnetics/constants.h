// SPDX-License-Identifier: Apache-2.0
//
// CODATA 2018 (E. Tiesinga et al., Rev. Mod. Phys. 93 (2021) 025010), SI.
#pragma once

namespace tessera::electromagnetics {

inline constexpr double speed_of_light = 299792458.0;            ///< m/s, exact
inline constexpr double vacuum_permeability = 1.25663706212e-6;  ///< H/m
inline constexpr double vacuum_permittivity =
    1 / (vacuum_permeability * speed_of_light * speed_of_light);                  ///< F/m
inline constexpr double vacuum_impedance = vacuum_permeability * speed_of_light;  ///< ohm

}  // namespace tessera::electromagnetics
