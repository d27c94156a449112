// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Bessel functions of real order (a number, not a tensor) and real or complex argument, element by
// element, with the branch cut along the negative real axis, whose side is chosen by the sign of
// the imaginary zero (NIST Digital Library of Mathematical Functions, chapter 10). Derivatives of
// any order are those in z:
//
//   J_v' = (J_{v-1} - J_{v+1}) / 2, Y and H alike;
//   I_v' = (I_{v-1} + I_{v+1}) / 2;  K_v' = -(K_{v-1} + K_{v+1}) / 2.
//
// Real arguments below zero give NaN where the value is complex (Y, K, and J, I of fractional
// order): cast to complex for these. Negative orders are reflected. At 0 values are the limits from
// the right. The relative error is a few units of 1e-15 away from zeros, times |order| where that
// is large; orders beyond a thousand cost more than they should (time grows as |order| + |z|). f32
// and c64 are computed in double precision.

namespace tessera {

Tensor bessel_j(double order, Arg z);
Tensor bessel_y(double order, Arg z);
Tensor bessel_i(double order, Arg z);
Tensor bessel_k(double order, Arg z);
Tensor hankel1(double order, Arg z);  ///< J + i Y; complex also for real z
Tensor hankel2(double order, Arg z);  ///< J - i Y

/// Free of overflow: times e^{-|Im z|} (J, Y), e^{-|Re z|} (I), e^z (K), e^{-iz} (H1), e^{iz} (H2).
/// The derivatives are those of the scaled functions; they cancel for large |z|: their error is
/// absolute in units of the function.
Tensor bessel_je(double order, Arg z);
Tensor bessel_ye(double order, Arg z);
Tensor bessel_ie(double order, Arg z);
Tensor bessel_ke(double order, Arg z);
Tensor hankel1e(double order, Arg z);
Tensor hankel2e(double order, Arg z);

/// j_n(z) = sqrt(pi / 2z) J_{n+1/2}(z), n >= 0; regular at 0, with derivatives.
Tensor spherical_j(int n, Arg z);
/// y_n(z) = sqrt(pi / 2z) Y_{n+1/2}(z), n >= 0.
Tensor spherical_y(int n, Arg z);

}  // namespace tessera
