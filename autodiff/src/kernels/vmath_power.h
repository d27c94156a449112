// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_log.h"

// rsqrt, cbrt, pow.
namespace tessera::kernels::vm {

/// 1 / sqrt(x).
template <Real T>
TESSERA_HD_INLINE T rsqrt(T x) {
  return 1 / sqrt(x);
}

/// Cube root: |x| = 8^q m; z near m^(-1/3) by a polynomial and one cubic step, then y = m z^2 and
/// one Newton step with the exact residual m - y^3.
TESSERA_HD_INLINE double cbrt(double x) {
  const double a = abs(x);
  const auto [k, f] = detail::log_parts_any(a);
  const double q = fma(k, 1.0 / 3, Format<double>::kMagic) - Format<double>::kMagic;
  const double rest = k - 3 * q;  // -1, 0 or 1
  const double m0 = 1 + f;        // exact
  const double m = rest < 0 ? 0.5 * m0 : rest > 0 ? 2 * m0 : m0;
  double z = poly(m0, 0x1.ffc9953e5527dp+0, -0x1.3e327c80c2517p+1, 0x1.6566f519c1b19p+1,
                  -0x1.e5ebbd0fd3e72p+0, 0x1.66c71eae4156cp-1, -0x1.baa18309fac48p-4);
  z = rest < 0 ? z * 0x1.428a2f98d728bp+0 : rest > 0 ? z * 0x1.965fea53d6e3dp-1 : z;
  const double h = fma(-m * z, z * z, 1.0);
  z = fma(z * h, fma(h, 2.0 / 9, 1.0 / 3), z);
  const double y = m * z * z;
  const double y2 = y * y;
  const double residual = fma(-y2, y, m) - fma(y, y, -y2) * y;
  const double root = with_sign(fma(residual, z * z * (1.0 / 3), y) * pow2(q), sign_of(x));
  return ((a == 0) | !(a < kInfinity<double>)) ? x : root;
}
TESSERA_HD_INLINE float cbrt(float x) { return static_cast<float>(cbrt(double(x))); }

namespace detail {

/// log x for positive finite x as high + low, relative error near 2^-66: s, s^2 and s^3 of
/// log(1 + f) = 2 s + s^3 (2/3 + s^2 R(s^2)) are carried in two doubles.
TESSERA_HD_INLINE Pair<double> log_pair(double x) {
  using C = ExpConstants<double>;
  const auto [k, f] = log_parts_any(x);
  const double d = 2 + f;
  const double d_low = f - (d - 2);
  const double inverse = 1 / d;
  const double s = f * inverse;
  const double s_low = (fma(-s, d, f) - s * d_low) * inverse;
  const double z = s * s;
  const double z_low = fma(s, s, -z) + 2 * s * s_low;
  const double cube = s * z;
  const double cube_low = fma(s, z, -cube) + fma(s, z_low, s_low * z);
  const double tail = z * poly(z, 0x1.9999999999996p-2, 0x1.249249249303ep-2, 0x1.c71c71c57f472p-3,
                               0x1.745d1832dd602p-3, 0x1.3b136291191dbp-3, 0x1.1120bb2f1c60cp-3,
                               0x1.de328f258e6f5p-4, 0x1.eb1878bc402c4p-4);
  constexpr double kTwoThirds = 0x1.5555555555555p-1, kTwoThirdsLow = 0x1.5555555555555p-55;
  const double factor = kTwoThirds + tail;
  const double factor_low = ((kTwoThirds - factor) + tail) + kTwoThirdsLow;
  const double v = cube * factor;
  const double v_low = fma(cube, factor, -v) + fma(cube, factor_low, cube_low * factor);
  const double h = 2 * s + v;
  const double h_low = ((2 * s - h) + v) + (2 * s_low + v_low);
  const double a = k * C::kLn2High;  // exact
  const double sum = a + h;
  const double sum_low = ((a - sum) + h) + fma(k, C::kLn2Low, h_low);
  const double high = sum + sum_low;
  return {high, (sum - high) + sum_low};
}

/// a^y for a >= 0.
TESSERA_HD_INLINE double pow_positive(double a, double y) {
  Pair<double> l = log_pair(a);
  l.high = a == 0 ? -kInfinity<double> : a < kInfinity<double> ? l.high : a;
  const double p = y * l.high;
  const double p_low = fma(y, l.high, -p) + y * l.low;
  return exp_of_sum(p, abs(p) < 800 ? p_low : 0.0);
}
/// Without the second double: y log a is below 104 and the result is rounded to float.
TESSERA_HD_INLINE double pow_positive(float a, float y) { return exp(double(y) * log(double(a))); }

TESSERA_HD_INLINE double floor(double x) { return __builtin_floor(x); }
TESSERA_HD_INLINE float floor(float x) { return __builtin_floorf(x); }

}  // namespace detail

/// x^y as IEEE 754 pow: x^0 = 1 and 1^y = 1 even for NaN; NaN for x < 0 and y no integer; signed
/// zeros and infinities for odd y.
template <Real T>
TESSERA_HD_INLINE T pow(T x, T y) {
  const T a = abs(x);
  T r = static_cast<T>(detail::pow_positive(a, y));
  r = ((a == 1) & !(abs(y) < kInfinity<T>)) ? (y == y ? T(1) : y) : r;  // (-1)^(+-inf) = 1
  const bool integer = detail::floor(y) == y;
  const bool odd = integer & !(detail::floor(T(0.5) * y) == T(0.5) * y);
  const bool negative = sign_of(x) != 0;
  r = (negative & odd) ? -r : r;
  const bool invalid = (x < 0) & !integer & (a < kInfinity<T>);
  r = (y == y) ? (invalid ? kNaN<T> : r) : r;
  return ((y == 0) | (x == 1)) ? T(1) : r;
}

/// x^n by repeated squaring; negative n by the reciprocal of x^|n|.
template <class T>
TESSERA_HD_INLINE T pow_int(T x, long long n) {
  unsigned long long m =
      n < 0 ? 0ull - static_cast<unsigned long long>(n) : static_cast<unsigned long long>(n);
  T result = T(1);
  for (T square = x; m != 0; m >>= 1) {
    if ((m & 1) != 0) result = result * square;
    if (m > 1) square = square * square;
  }
  return n < 0 ? T(1) / result : result;
}

}  // namespace tessera::kernels::vm
