// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_log.h"

// erf, erfc and the inverse of erf. Below 0.65 erf(x) = x (1 + P(x^2)); above,
// erfc(x) = exp(-x^2) (1 + Q(t)) / (1 + 2 x) with t = (x - 4) / (x + 4) (Shepherd & Laframboise,
// Math. Comp. 36 (1981) 249), where x^2 is carried with its rounding error.
namespace tessera::kernels::vm {

namespace detail {

inline constexpr double kErfSplit = 0.65;

TESSERA_HD_INLINE double erf_small(double x) {
  const double z = x * x;
  return fma(x,
             poly(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b5p-4,
                  -0x1.b82ce31283728p-6, 0x1.565bcd0cda784p-8, -0x1.c02db375a036dp-11,
                  0x1.f9a308fb4236fp-14, -0x1.f4ce2f59ba47cp-17, 0x1.b986e2628e064p-20,
                  -0x1.5a1308913b276p-23, 0x1.a3f820ce5313ap-27),
             x);
}

/// erfc(x) for x >= kErfSplit.
TESSERA_HD_INLINE double erfc_large(double x) {
  const double a = x > 28 ? 28.0 : x;
  const double t = (a - 4) / (a + 4);
  const double q = poly(
      t, 0x1.dd2c8b74febf6p-3, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd7acp-7, 0x1.16ecefcfa52f9p-4,
      -0x1.9ddb23c3e9055p-4, 0x1.7fee004e141c0p-4, -0x1.0fb06dfe4a110p-4, 0x1.3079edf63625cp-5,
      -0x1.09623884ec9f1p-6, 0x1.49c672a2b3f02p-8, -0x1.8d4a9a03eee68p-11, -0x1.a1df3f60c3fbbp-13,
      0x1.3be03e5497247p-13, -0x1.99557d1ba0aabp-16, -0x1.78848ddaa8a5cp-17, 0x1.7efab949589bbp-18,
      0x1.396bd96c21a34p-22, -0x1.b83bbeda8ea64p-21, 0x1.4b0d5d86f57cfp-24, 0x1.bd2a08bc5ee9dp-24,
      -0x1.5232480ad6688p-26, -0x1.503cdf2e3453ep-27, 0x1.48d6f545775b1p-29);
  const double square = a * a;
  const double low = fma(a, a, -square);
  return exp_of_sum(-square, -low) * ((1 + q) / fma(2.0, a, 1.0));
}

}  // namespace detail

TESSERA_HD_INLINE double erf(double x) {
  const double a = abs(x);
  const double small = detail::erf_small(a), large = 1 - detail::erfc_large(a);
  return with_sign(a < detail::kErfSplit ? small : large, sign_of(x));
}

TESSERA_HD_INLINE double erfc(double x) {
  const double a = abs(x);
  const double center = 1 - detail::erf_small(x), tail = detail::erfc_large(a);
  const double outer = x < 0 ? 2 - tail : tail;
  return a < detail::kErfSplit ? center : outer;
}

/// The x with erf(x) = y; infinite at +-1, NaN beyond. A fit good to 2^-22 and one step of Halley's
/// method on erf(x) - y below y = 1/2 and on erfc(x) - (1 - y) above, where 1 - y is exact.
TESSERA_HD_INLINE double erfinv(double y) {
  const double a = abs(y);
  const double w = -log((1 - a) * (1 + a));
  const double center =
      a * poly(w - 2.5, 0x1.805c5d1dfc097p+0, 0x1.f91e8c2e59b09p-3, -0x1.11c4e0412e56fp-8,
               -0x1.48678e2c7a1eep-10, 0x1.c9e59580ce44dp-13, -0x1.4c385570b4b77p-18,
               -0x1.d0ad60aca99dap-19, 0x1.f18d3050a5df0p-22, 0x1.8e4daf797e8d8p-26,
               -0x1.2729f7c4f4939p-27);
  const double tail =
      poly(sqrt(w) - 4, 0x1.eb7e040b314fap+1, 0x1.026df9c959c55p+0, 0x1.497b96a3681d3p-10,
           -0x1.b79d1b0c61de1p-11, 0x1.2f74f2c385c67p-12, -0x1.9e9b031d80912p-14,
           0x1.b6582a00faebap-16, -0x1.4defa1d701dc2p-24, -0x1.396777e6dd515p-20);
  const double x = w < 5 ? center : tail;
  const double below = erf(x) - a, above = (1 - a) - erfc(x);
  const double error = a < 0.5 ? below : above;
  constexpr double kHalfRootPi = 0x1.c5bf891b4ef6bp-1;
  const double u = error * (kHalfRootPi * exp(x * x));
  const double root = x - u / fma(x, u, 1.0);
  return with_sign(a == 1 ? kInfinity<double> : root, sign_of(y));
}

TESSERA_HD_INLINE float erf(float x) { return static_cast<float>(erf(double(x))); }
TESSERA_HD_INLINE float erfc(float x) { return static_cast<float>(erfc(double(x))); }
TESSERA_HD_INLINE float erfinv(float y) { return static_cast<float>(erfinv(double(y))); }

}  // namespace tessera::kernels::vm
