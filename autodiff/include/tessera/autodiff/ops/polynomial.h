// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

// Polynomials by their coefficients along the last axis, rising: p(x) = c_0 + c_1 x + ... + c_n
// x^n. Real or complex.

namespace tessera {

/// p(x) by Horner's rule; the leading axes of the coefficients broadcast with x.
Tensor polyval(Arg coefficients, Arg x);
/// Coefficients of p'; one zero for a constant.
Tensor polyder(Arg coefficients);
/// Coefficients of the integral from 0.
Tensor polyint(Arg coefficients);
/// Coefficients of a product: [..., n] and [..., m] -> [..., n + m - 1].
Tensor polymul(Arg a, Arg b);
/// Coefficients [..., degree + 1] of the polynomial nearest to y [..., m] at x [m] in least
/// squares, by QR of the Vandermonde matrix in x / max |x|. Its condition grows exponentially with
/// the degree, least for x that fill -1 ... 1.
Tensor polyfit(Arg x, Arg y, int degree);
/// All n roots, complex, rising by real, then imaginary part, of coefficients [..., n + 1] with c_n
/// != 0: eigenvalues of the companion matrix. The derivative is that of p(r) = 0, dr = -dp(r) /
/// p'(r), and needs simple roots.
Tensor roots(Arg coefficients);

}  // namespace tessera
