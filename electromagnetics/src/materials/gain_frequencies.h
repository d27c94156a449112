// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/medium.h"

#include <vector>

namespace tessera::electromagnetics {

/// The frequencies (Hz, in order) at which gain of these terms is looked for: 600 from a thousandth
/// of the slowest to a thousand times the fastest pole, wider if the band is, and 40 within 30
/// half-widths of each resonance. One frequency where there is neither pole nor band.
std::vector<double> gain_frequencies(const std::vector<PoleResidue>& poles, double f_min_hz,
                                     double f_max_hz);

/// Sum of the sizes of the terms at s = 2 pi i f: what the rounding of their sum is relative to.
double size_of_terms(const std::vector<PoleResidue>& poles, double f_hz);

}  // namespace tessera::electromagnetics
