// SPDX-License-Identifier: Apache-2.0
//
// A Gaussian beam (A. E. Siegman, Lasers, ch. 17): with z along the direction from the focus, rho
// the distance from the axis, q = 1 in three dimensions and 1/2 in two, at one frequency
//
//   E = p A (w0/w)^q e^{-rho^2/w^2} e^{i w t - i phi},   H = u x E / eta,
//   phi = k (z + rho^2/(2 R)) - q atan(z/zR),
//   zR = k w0^2/2,   w = w0 sqrt(1 + (z/zR)^2),   R = z (1 + (zR/z)^2)
//
// It holds for small angles d = wavelength/(pi w0): the field differs from it by d^2/2.
#pragma once
#include "tessera/electromagnetics/geometry.h"

#include <array>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {

struct GaussianBeam {
  Point focus{};
  Point direction{1, 0, 0};     ///< u, of length 1
  Point polarization{0, 0, 1};  ///< p, of length 1, across u
  double waist = 0;             ///< w0, m: radius in the focus at which the amplitude is 1/e
  std::array<bool, 3> resolved{true, true, true};  ///< axes along which it changes: two or three

  struct Value {
    double amplitude;  ///< over A
    double phase;      ///< phi, rad
  };
  /// Where waves have the wave number k, 1/m.
  Value at(const Point& r, double k) const {
    double z = 0, square = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!resolved[d]) continue;
      z += direction[d] * (r[d] - focus[d]);
      square += (r[d] - focus[d]) * (r[d] - focus[d]);
    }
    const double rho2 = square - z * z, range = k * waist * waist / 2, order = q(),
                 stretch = 1 + z * z / (range * range);
    // 1/R = z / (z^2 + zR^2)
    return {std::pow(stretch, -order / 2) * std::exp(-rho2 / (waist * waist * stretch)),
            k * (z + rho2 / 2 * z / (z * z + range * range)) - order * std::atan(z / range)};
  }
  /// Power of the beam with A = 1 V/m, W, in two dimensions W/m, in a medium of impedance eta.
  double power(double eta) const {
    using std::numbers::pi;
    return (q() == 1 ? pi * waist * waist / 4 : std::sqrt(pi / 8) * waist) / eta;
  }

 private:
  double q() const { return resolved[0] && resolved[1] && resolved[2] ? 1.0 : 0.5; }
};

/// One whose axis passes `position`, `focus` before its focus; direction and polarization of any
/// length, of the latter the part across the direction counts. Throws Error, in the name of
/// `operation`, where they have no length or the waist none, for fewer than two axes, and for a
/// direction along one that is not resolved.
GaussianBeam gaussian_beam(const char* operation, const Point& position, const Point& direction,
                           const Point& polarization, double waist, double focus,
                           const std::array<bool, 3>& resolved = {true, true, true});

}  // namespace tessera::electromagnetics
