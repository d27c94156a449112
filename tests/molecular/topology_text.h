// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::molecular::testing {

/// The head of a GROMACS topology: types O and H.
inline constexpr const char* water_types =
    "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 1.008 0.0 "
    "A 0 0\n";

}  // namespace tessera::molecular::testing
