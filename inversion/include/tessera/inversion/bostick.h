// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/response.h"

#include <complex>
#include <vector>

namespace tessera::inversion {

/// Depth |Z| / (w mu0) in m: where the low-frequency asymptotes of a thin conducting sheet and an
/// insulating layer cross (Bostick 1977; Jones 1983, Geophys. Prospect. 31, 167). For a half-space
/// it is the skin depth / sqrt 2.
double bostick_depth(double frequency_hz, std::complex<double> impedance_ohm);

struct BostickModel {
  std::vector<double> depth_m;            ///< falling frequency, so mostly rising
  std::vector<double> resistivity_ohm_m;  ///< NaN where the phase is outside 0-90 degrees
};

/// The quick look: rho(depth) = rho_a (pi / (2 phase) - 1), the transform by phase (Weidelt's
/// approximation of the slope; Goldberg and Rotstein 1982), one point per frequency.
BostickModel bostick(const Response& response);

}  // namespace tessera::inversion
