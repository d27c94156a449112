// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Spherical harmonics as functions of Cartesian vectors [..., 3], not of angles: so they are
// polynomials, and their derivatives of any order exist at the poles as everywhere. Results hold
// all degrees l = 0 ... l_max and orders m = -l ... l at position l^2 + l + m of a last axis of
// (l_max + 1)^2. They are orthonormal over the unit sphere.
//
// Real (z up, without the sign (-1)^m of Condon and Shortley):
//   Y_lm = sqrt 2 N_lm P_l^m(cos theta) cos(m phi),  Y_l0 = N_l0 P_l(cos theta),
//   Y_l,-m = sqrt 2 N_lm P_l^m(cos theta) sin(m phi),
// so that Y_1 = sqrt(3 / 4 pi) (y, z, x). Complex, with that sign (scipy.special.sph_harm_y, NIST
// DLMF 14.30):
//   Y_lm = (-1)^m N_lm P_l^m(cos theta) e^{i m phi},  Y_l,-m = (-1)^m conj Y_lm.
// Here m > 0, N_lm^2 = (2l+1)/(4 pi) (l-m)!/(l+m)!, and P_l^m = sin^m theta d^m P_l / d(cos
// theta)^m > 0 for theta -> 0.
//
// By the recurrence rising in l at fixed m of P_l^m / sin^m theta, which holds neither small nor
// large numbers (S. Holmes & W. Featherstone 2002, J. Geodesy 76, 279): stable for any l. The error
// is that of rounding the direction, at worst (near the poles) l^2 units of 1e-16: 1e-13 at l = 50.
// About 12 (l_max + 1) operations on arrays [..., l].

namespace tessera {

/// r^l Y_lm(r / |r|): polynomials in x, y, z that solve Laplace's equation.
Tensor solid_harmonics(int l_max, Arg r);
/// Y_lm(r / |r|) of any r but 0: constant along rays.
Tensor spherical_harmonics(int l_max, Arg r);
/// The complex ones; c128 (c64 for f32).
Tensor complex_solid_harmonics(int l_max, Arg r);
Tensor complex_spherical_harmonics(int l_max, Arg r);

}  // namespace tessera
