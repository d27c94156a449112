// SPDX-License-Identifier: Apache-2.0
//
// Gaussian beams (gaussian_beam.h) that start from a plane and travel to one side of it: of a
// waveform w(t)
//
//   E = p A (w0/w)^q e^{-rho^2/w^2} w(t - phi/w_c),   H = u x E / eta
//
// with the phase phi at the frequency w_c in the middle of the waveform's spectrum; its other
// frequencies keep the delays of this one. The fields on the plane drive the side ahead as those of
// a plane wave drive its box (plane_wave.h): the currents J = n x H, M = -n x E, each at its own
// half cell. The formula holds for small angles d = wavelength/(pi w0): the field differs from it
// by d^2/2, and d^2/4 of the amplitude, or d tan(tilt)/2 where the plane is tilted, goes back.
#pragma once
#include "tessera/electromagnetics/time_domain.h"

namespace tessera::electromagnetics {

struct Beam {
  int axis = 0;      ///< that the plane lies across
  Point position{};  ///< where the beam's axis meets the plane; moved to the nearest line along
                     ///< `axis`
  Point direction{1, 0, 0};     ///< in which the beam travels, of any length; not along the plane
  Point polarization{0, 0, 1};  ///< of E; its part across the direction counts, of any length
  double waist = 0;             ///< w0, m: radius in the focus at which the amplitude is 1/e
  /// From `position` along the direction to the focus, m; behind it where negative.
  double focus = 0;
  double frequency_hz = 0;  ///< w_c / (2 pi)
  double amplitude = 1;     ///< A, V/m: in the focus
  Waveform waveform;  ///< taken as zero before t = 0, the time when the wave first meets the part
                      ///< of the plane that counts
  double eps = 1, mu = 1;  ///< relative, of the medium around the plane
};

/// Three dimensions or two (the direction then lies in them). Where the amplitude is below 1e-5 of
/// that on the axis nothing is driven; what remains must lie outside of the absorbing layers.
/// Throws Error for a plane outside of the domain or at its ends, and directions along the plane.
/// Linear in the amplitude. A step costs 6 multiplications for each edge.
Injection beam(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s,
               const Beam& beam);

}  // namespace tessera::electromagnetics
