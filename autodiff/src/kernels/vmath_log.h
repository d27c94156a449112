// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_exp.h"

// log, log2, log10, log1p, softplus and the inverse hyperbolic functions.
//
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); with s = f / (2 + f) and z = s^2
// log(1 + f) = f - f^2/2 + s (f^2/2 + z R(z)), and the sum k ln2 + f - f^2/2 is taken with its
// rounding errors. R is a minimax polynomial (make_vmath_polynomials.py: log_f64, log_f32).
namespace tessera::kernels::vm {

namespace detail {

TESSERA_HD_INLINE double log_rest(double z) {
  return poly(z, 0x1.5555555555593p-1, 0x1.999999997fc75p-2, 0x1.2492494204596p-2,
              0x1.c71c51f8af466p-3, 0x1.74664289e10c3p-3, 0x1.39a157e59ddd5p-3,
              0x1.2f0978e2100b4p-3);
}
TESSERA_HD_INLINE float log_rest(float z) {
  return poly(z, 0x1.555554p-1f, 0x1.999a7ap-2f, 0x1.2438cp-2f, 0x1.e2fa16p-3f);
}

template <class T>
struct LogParts {
  T k, f;
};

/// x = 2^k (1 + f) for positive normal x.
template <Real T>
TESSERA_HD_INLINE LogParts<T> log_parts(T x) {
  using U = BitsOf<T>;
  using F = Format<T>;
  constexpr U kSqrtHalf = sizeof(T) == 8 ? U(0x3fe6a09e667f3bcdull) : U(0x3f3504f3u);
  constexpr U kOffset = U(F::kBias + 1) << F::kFraction;
  constexpr T kOne = T(U(1) << F::kFraction);  // an integer added to its bits is added to its value
  const U shifted = (to_bits(x) - kSqrtHalf + kOffset) >> F::kFraction;
  const T k = from_bits<T>(to_bits(kOne) | shifted) - (kOne + T(F::kBias + 1));
  const T m = from_bits<T>(to_bits(x) - (shifted << F::kFraction) + kOffset);
  return {k, m - 1};
}

/// k ln2 + log(1 + f) + c as an unevaluated sum high + low, |low| a small part of high.
template <class T>
struct Pair {
  T high, low;
};
template <Real T>
TESSERA_HD_INLINE Pair<T> log_sum(T k, T f, T c) {
  using C = ExpConstants<T>;
  const T half_square = T(0.5) * f * f;
  const T half_square_low = fma(T(0.5) * f, f, -half_square);
  const T s = f / (2 + f);
  const T z = s * s;
  const T tail = s * fma(z, log_rest(z), half_square);
  const T a = k * C::kLn2High;  // exact
  const T b = a + f;
  const T b_low = (a - b) + f;
  const T high = b - half_square;
  const T high_low = (b - high) - half_square;
  return {high, tail + (((b_low + high_low) - half_square_low) + fma(k, C::kLn2Low, c))};
}

/// Positive x, denormals included, to k and f.
template <Real T>
TESSERA_HD_INLINE LogParts<T> log_parts_any(T x) {
  using F = Format<T>;
  constexpr T kUp = T(BitsOf<T>(1) << F::kFraction);
  const bool tiny = x < kSmallestNormal<T>;
  const auto [k, f] = log_parts(tiny ? x * kUp : x);
  return {tiny ? k - T(F::kFraction) : k, f};
}

/// y for ordinary x; the values at 0, below 0, at infinity and NaN.
template <Real T>
TESSERA_HD_INLINE T log_special(T x, T y) {
  y = x < kInfinity<T> ? y : x;
  y = x == 0 ? -kInfinity<T> : y;
  return x < 0 ? kNaN<T> : y;
}

}  // namespace detail

/// Natural logarithm.
template <Real T>
TESSERA_HD_INLINE T log(T x) {
  const auto [k, f] = detail::log_parts_any(x);
  const auto [high, low] = detail::log_sum(k, f, T(0));
  return detail::log_special(x, high + low);
}

/// log(1 + x). With u = 1 + x rounded and c the rounding error: log u + c / u.
template <Real T>
TESSERA_HD_INLINE T log1p(T x) {
  const T u = 1 + x;
  const T c = x < 1 ? x - (u - 1) : 1 - (u - x);
  const auto [k, f] = detail::log_parts(u);
  // c / u only matters where u is near 1 or c is half an ulp of u: 1 / (1 + f) by three terms does
  const T scaled = c * pow2(k > 100 ? T(-100) : -k);
  const auto [high, low] = detail::log_sum(k, f, scaled * fma(f, f - 1, T(1)));
  const T y = detail::log_special(u, high + low);
  return abs(x) < detail::ExpConstants<T>::kIdentity ? x : y;
}

/// log(1 + e^x) = max(x, 0) + log1p(e) with e = e^-|x| in [0, 1], so that k and f need no bits of 1
/// + e.
template <Real T>
TESSERA_HD_INLINE T softplus(T x) {
  const T e = exp(-abs(x));
  const bool upper = e > T(0.41421356237309504880);
  const T k = upper ? T(1) : T(0);
  const auto [high, low] = detail::log_sum(k, upper ? T(0.5) * e - T(0.5) : e, T(0));
  return (x < 0 ? T(0) : x) + (high + low);
}

}  // namespace tessera::kernels::vm
