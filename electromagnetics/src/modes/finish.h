// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/grid_modes.h"

#include <complex>

namespace tessera::electromagnetics::modes {

/// Which way a mode of s^2 runs, and 1 W of it: `e` and `h_n` as they come, of any scale, `h` and
/// `e_n` times s, those of metal included. Sets beta, index and the scale of all.
void finish(GridMode& mode, const GridModes& plane, const std::complex<double>& s_squared,
            double frequency_hz);

}  // namespace tessera::electromagnetics::modes
