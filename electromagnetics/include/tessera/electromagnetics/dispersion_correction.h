// SPDX-License-Identifier: Apache-2.0
//
// Media in which waves run at their exact speed on a grid, at one frequency.
//
// A wave of frequency w and wave vector k runs on the grid where (2/dt)^2 sin^2(w dt/2) eps mu/c^2
// = sum over axes of (2/h)^2 sin^2(k_axis h/2). At the exact |k| = n w/c the two sides differ, by
// (k h)^2/12 times 3/4 (2-D; 3/5 in 3-D) less (c dt/(n h))^2: the wave is slow, more so the higher
// its index. With eps scaled by the ratio of the two sides it is not. The right hand side is taken
// as its mean over the directions of k,
//     F = sum over axes of (2/h^2) (1 - g(k h)) / [(2/dt)^2 sin^2(w dt/2) Re(eps mu)/c^2],
//     g = cos (1-D), J0 (2-D), sin(x)/x (3-D),
// so what is left at w is the difference between directions, (k h)^2/96 of the speed at most in
// 2-D; at another frequency w' the error of the scheme times 1 - w^2/w'^2. (A. Taflove, S. C.
// Hagness, Computational Electrodynamics, 3rd ed., section 4.9, centres the speed in the same way.)
// For a band up to w_max, w = 0.87 w_max makes the largest error of phase over a way as small as it
// can be, a quarter of the one without: phase errors go as w' |w^2 - w'^2|.
#pragma once
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <optional>
#include <vector>

namespace tessera::electromagnetics {

/// F of a medium, the mean over E along the three axes. Along a period of one cell no wave runs. 1
/// where waves decay within a wavelength
/// over 2 pi (Im n beyond Re n): metals, and perfect conductors. Throws Error where the cells of an
/// axis differ in length or have more than half of the wavelength.
double dispersion_factor(const Medium& medium, const YeeGrid& grid, double dt_s,
                         double frequency_hz);

/// The medium with eps, sigma, poles, chi2 and chi3 scaled by F. As eps may fall, so may the
/// longest stable time step.
Medium dispersion_corrected(Medium medium, const YeeGrid& grid, double dt_s, double frequency_hz);

/// Media for a time step, and the longest one that is stable in them.
struct SteppedMedia {
  std::vector<Medium> media;
  double dt_s = 0, stable_dt_s = 0;
};
/// All media corrected, which depends on the time step, and the time step, whose limit depends on
/// the media: `dt_s` where it is given, else `courant` times the limit. The dependences are weak,
/// (w dt)^2/12 of a share of (k h)^2/16, so that few rounds settle both to rounding. Throws Error
/// as above.
SteppedMedia dispersion_corrected(const std::vector<Medium>& media, const YeeGrid& grid,
                                  std::optional<double> dt_s, double courant, double frequency_hz);

}  // namespace tessera::electromagnetics
