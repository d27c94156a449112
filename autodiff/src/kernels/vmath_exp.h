// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_basic.h"

// exp, exp2, expm1 and the hyperbolic and logistic functions that follow from them.
//
// x = n ln2 + r + c with |r| <= ln2/2, where c is the rounding error of r;
// exp(x) = 2^n (1 + r + rest), rest = r^2 q(r) + c. The sum is taken with its rounding error, so
// that the error stays near half an ulp. q is a minimax polynomial (tests/autodiff/references/
// make_vmath_polynomials.py: expm1_f64, expm1_f32).
namespace tessera::kernels::vm {

namespace detail {

template <class T>
struct ExpParts {
  T n, r, rest;
};

TESSERA_HD_INLINE double exp_rest(double r) {
  return poly(r, 0x1p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5, 0x1.111111110f699p-7,
              0x1.6c16c16c14444p-10, 0x1.a01a01afeeea3p-13, 0x1.a01a01b0bb0ffp-16,
              0x1.71ddf8387001dp-19, 0x1.27e4c597d4446p-22, 0x1.af5ef28c9b758p-26,
              0x1.1f9571eef8cefp-29);
}
TESSERA_HD_INLINE float exp_rest(float r) {
  return poly(r, 0x1p-1f, 0x1.555556p-3f, 0x1.5554aep-5f, 0x1.11109p-7f, 0x1.6d74ccp-10f,
              0x1.a1a1bap-13f);
}

template <class T>
struct ExpConstants;
template <>
struct ExpConstants<double> {
  static constexpr double kLog2e = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa2p-1, kLn2Low = 0x1.9ef35793c7673p-41;
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Tail = 0x1.abc9e3b39803fp-56;
  static constexpr double kLargest = 710.6,
                          kSmallest = -746;     // beyond these exp, sinh, cosh do not change
  static constexpr double kIdentity = 0x1p-54;  // below this expm1(x), tanh(x) and sinh(x) are x
  static constexpr double kMinusOne = -40;      // below this expm1(x) is -1
};
template <>
struct ExpConstants<float> {
  static constexpr float kLog2e = 0x1.715476p+0f;
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kLn2 = 0x1.62e43p-1f, kLn2Tail = -0x1.05c61p-29f;
  static constexpr float kLargest = 89.6f, kSmallest = -104;
  static constexpr float kIdentity = 0x1p-25f;
  static constexpr float kMinusOne = -20;
};

template <Real T>
TESSERA_HD_INLINE ExpParts<T> exp_parts(T x) {
  using C = ExpConstants<T>;
  const T n = fma(x, C::kLog2e, Format<T>::kMagic) - Format<T>::kMagic;
  const T high = fma(-n, C::kLn2High, x);  // exact
  const T r = fma(-n, C::kLn2Low, high);
  const T c = fma(-n, C::kLn2Low, high - r);
  return {n, r, fma(r * r, exp_rest(r), fma(c, r, c))};
}

/// 2^shift exp(x).
template <Real T>
TESSERA_HD_INLINE T exp_shifted(T x, T shift) {
  using C = ExpConstants<T>;
  x = x > C::kLargest ? C::kLargest : x;
  x = x < C::kSmallest ? C::kSmallest : x;
  const auto [n, r, rest] = exp_parts(x);
  const T sum = 1 + r;
  return scale(sum + (((1 - sum) + r) + rest), n + shift);
}

/// exp(x + low) for a low that is about a rounding error of x: exp(x) (1 + low).
template <Real T>
TESSERA_HD_INLINE T exp_of_sum(T x, T low) {
  using C = ExpConstants<T>;
  x = x > C::kLargest ? C::kLargest : x;
  x = x < C::kSmallest ? C::kSmallest : x;
  const auto [n, r, rest] = exp_parts(x);
  const T sum = 1 + r;
  return scale(sum + (((1 - sum) + r) + fma(low, sum + rest, rest)), n);
}

/// expm1(x) / 4, which does not overflow where sinh is finite. Loses the last bits of denormals.
template <Real T>
TESSERA_HD_INLINE T expm1_quarter(T x) {
  using C = ExpConstants<T>;
  x = x > C::kLargest ? C::kLargest : x;
  x = x < C::kMinusOne ? C::kMinusOne : x;
  const auto [n, r, rest] = exp_parts(x);
  const T s = pow2(n - 2);
  const T a = s - T(0.25), b = s * r;  // |a| > |b| or a = 0
  const T sum = a + b;
  return sum + fma(s, rest, (a - sum) + b);
}

}  // namespace detail

/// e^x. Error below 0.6 ulp.
template <Real T>
TESSERA_HD_INLINE T exp(T x) {
  return detail::exp_shifted(x, T(0));
}

/// 2^x.
template <Real T>
TESSERA_HD_INLINE T exp2(T x) {
  using C = detail::ExpConstants<T>;
  using F = Format<T>;
  constexpr T kLargest = F::kBias + 2, kSmallest = -(F::kBias + F::kFraction + 2);
  x = x > kLargest ? kLargest : x;
  x = x < kSmallest ? kSmallest : x;
  const T n = (x + F::kMagic) - F::kMagic;
  const T f = x - n;  // exact
  const T r = f * C::kLn2;
  const T c = fma(f, C::kLn2, -r) + f * C::kLn2Tail;
  const T sum = 1 + r;
  return scale(sum + (((1 - sum) + r) + fma(r * r, detail::exp_rest(r), c)), n);
}

/// e^x - 1.
template <Real T>
TESSERA_HD_INLINE T expm1(T x) {
  const T y = 4 * detail::expm1_quarter(x);
  return abs(x) < detail::ExpConstants<T>::kIdentity ? x : y;
}

/// tanh |x| = t / (t + 2) = 1 - 2 / (t + 2) with t = expm1(2 |x|): the first for small, the second
/// for large x.
template <Real T>
TESSERA_HD_INLINE T tanh(T x) {
  constexpr T kOne = sizeof(T) == 8 ? 20 : 10;  // tanh is 1 from here on
  const T a = abs(x) > kOne ? kOne : abs(x);
  const auto [n, r, rest] = detail::exp_parts(2 * a);
  const T s = pow2(n);
  const T u = s - 1, v = s * r;  // |u| > |v| or u = 0
  const T sum = u + v;
  const T t = sum + fma(s, rest, (u - sum) + v);
  const bool small = t < 1;
  const T q = (small ? t : T(2)) / (t + 2);
  return with_sign(small ? q : 1 - q, sign_of(x));
}

/// sinh x = (t + t / (t + 1)) / 2 with t = expm1 |x|.
template <Real T>
TESSERA_HD_INLINE T sinh(T x) {
  const T q = detail::expm1_quarter(abs(x));
  const T y = with_sign(2 * (q + q / fma(T(4), q, T(1))), sign_of(x));
  return abs(x) < detail::ExpConstants<T>::kIdentity ? x : y;
}

/// cosh x = h + 1 / (4 h) with h = e^|x| / 2.
template <Real T>
TESSERA_HD_INLINE T cosh(T x) {
  const T h = detail::exp_shifted(abs(x), T(-1));
  return h + T(0.25) / h;
}

/// 1 / cosh^2 x = 4 e / (1 + e)^2 with e = e^(-2|x|), without overflow and with the tails to the
/// last denormal.
template <Real T>
TESSERA_HD_INLINE T sech2(T x) {
  const T e = exp(-2 * abs(x)), d = 1 + e;
  return 4 * (e / (d * d));
}

/// 1 / (1 + e^-x), without overflow and with the left tail to the last denormal.
template <Real T>
TESSERA_HD_INLINE T logistic(T x) {
  const T e = exp(-abs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

}  // namespace tessera::kernels::vm
