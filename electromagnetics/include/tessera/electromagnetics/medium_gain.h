// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/medium.h"

namespace tessera::electromagnetics {

/// Where a medium amplifies most.
struct GainReport {
  bool passive = true;  ///< Im eps <= 0, up to rounding, wherever it was looked at
  double f_hz = 0;      ///< of the largest Im eps in the size of the terms there
  double im_eps = 0;    ///< Im of the permittivity at f_hz; infinite on a pole without damping
};

/// Looks at 600 frequencies per axis from a thousandth of the slowest to a thousand times the
/// fastest pole (wider if the band is), at 40 within 30 half-widths of each resonance, and climbs
/// from the worst of them. A pole without damping has to be a lossless resonance; Im eps is a
/// distribution there. Poles are taken to decay, or to lie on the imaginary axis.
GainReport largest_gain(const Medium& medium, double f_min_hz = 0, double f_max_hz = 0);

/// Whether a pole on the imaginary axis, not at zero, has Re c = 0 and Im c/Im a <= 0: a resonance
/// of strength >= 0, which stores energy and returns all of it.
bool is_lossless_resonance(const PoleResidue& pole);

}  // namespace tessera::electromagnetics
