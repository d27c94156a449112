// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_log.h"

// Inverse trigonometric and inverse hyperbolic functions. The float versions round the double ones:
// their vector loops run at the speed of double.
namespace tessera::kernels::vm {

namespace detail {

inline constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;

/// (atan t - t) / t^3 in z = t^2, |t| <= tan(pi/8).
TESSERA_HD_INLINE double atan_rest(double z) {
  return poly(z, -0x1.555555555553dp-2, 0x1.99999999958afp-3, -0x1.24924922af934p-3,
              0x1.c71c70e700088p-4, -0x1.745cf8f82a595p-4, 0x1.3b111b081e0edp-4,
              -0x1.10ebcdad4d873p-4, 0x1.df10792830a31p-5, -0x1.9cd7da3dc2752p-5,
              0x1.37e21440aed8ap-5, -0x1.25844dae77029p-6);
}
/// (asin t - t) / t^3 in z = t^2, |t| <= 1/2.
TESSERA_HD_INLINE double asin_rest(double z) {
  return poly(z, 0x1.5555555555387p-3, 0x1.333333336f8c7p-4, 0x1.6db6db41d1e5bp-5,
              0x1.f1c72c6dd1971p-6, 0x1.6e89ef6fb09fap-6, 0x1.1c6c283f2e4a3p-6,
              0x1.c6f875504c3a4p-7, 0x1.8ee4d5af7fa6dp-7, 0x1.aab24f29f5af9p-8,
              0x1.40b2ae90d8b6dp-6, -0x1.0af5ea780baf5p-6, 0x1.05ceabf0348a1p-5);
}

/// Angle of the vector (x, y) for x, y >= 0, or of (-x, y) where `left`; not both 0 or infinite.
/// With tan(base) = 0, 1 or infinity near y / x: base + atan((y - x tan base) / (x + y tan base)).
TESSERA_HD_INLINE double angle(double y, double x, bool left) {
  constexpr double kTanEighth = 0x1.a827999fcef32p-2, kTanThreeEighths = 0x1.3504f333f9de6p+1;
  const bool high = y > kTanThreeEighths * x, middle = y > kTanEighth * x;
  const double numerator = high ? -x : middle ? y - x : y;
  const double denominator = high ? y : middle ? x + y : x;
  const double t = numerator / denominator;
  const double quarters = high ? 2 : middle ? 1 : 0;  // base in units of pi/4, exact products
  const double steps = left ? 4 - quarters : quarters;
  const double base = steps == 3 ? 0x1.2d97c7f3321d2p+1 : steps * (0.5 * kHalfPi);
  const double base_low = steps == 3 ? 0x1.a79394c9e8a0ap-54 : steps * (0.5 * kHalfPiLow);
  const double signed_t = left ? -t : t;
  const double z = t * t;
  const double sum = base + signed_t;
  return sum + (((base - sum) + signed_t) + fma(signed_t * z, atan_rest(z), base_low));
}

}  // namespace detail

TESSERA_HD_INLINE double atan(double x) {
  return with_sign(detail::angle(abs(x), 1.0, false), sign_of(x));
}

/// Angle of (x, y) in [-pi, pi]; the sign of zeros chooses the side of the cut, as in IEEE 754.
TESSERA_HD_INLINE double atan2(double y, double x) {
  double ax = abs(x), ay = abs(y);
  const double largest = ax > ay ? ax : ay;
  const double s = largest > 0x1p1000 ? 0x1p-100 : largest < 0x1p-900 ? 0x1p100 : 1.0;
  const bool infinite = (ax == kInfinity<double>)&(ay == kInfinity<double>);  // the diagonal
  const bool zero = ax + ay == 0;  // not where one is NaN, which must reach the quotient
  ax = infinite ? 1.0 : ax * s;
  ay = infinite ? 1.0 : ay * s;
  ax = zero ? 1.0 : ax;
  return with_sign(detail::angle(ay, ax, sign_of(x) != 0), sign_of(y));
}

/// NaN outside [-1, 1].
TESSERA_HD_INLINE double asin(double x) {
  const double a = abs(x);
  const bool outer = a > 0.5;  // asin a = pi/2 - 2 asin(sqrt((1 - a) / 2))
  const double z = outer ? 0.5 * (1 - a) : a * a;
  const double t = outer ? sqrt(z) : a;
  const double rest = t * z * detail::asin_rest(z);
  const double sum = detail::kHalfPi - 2 * t;
  const double low = (detail::kHalfPi - sum) - 2 * t;
  const double y = outer ? sum + (low + (detail::kHalfPiLow - 2 * rest)) : t + rest;
  return with_sign(y, sign_of(x));
}

/// NaN outside [-1, 1].
TESSERA_HD_INLINE double acos(double x) {
  const double a = abs(x);
  const bool outer = a > 0.5;  // acos a = 2 asin(sqrt((1 - a) / 2))
  const double z = outer ? 0.5 * (1 - a) : a * a;
  const double t = outer ? 2 * sqrt(z) : a;
  const double rest = t * z * detail::asin_rest(z);
  // inner: pi/2 - x - ...; outer and x < 0: pi - 2 t - ...; outer and x > 0: 2 t + ...
  const bool negative = x < 0, direct = outer & !negative;
  const double base = direct ? 0.0 : outer ? 2 * detail::kHalfPi : detail::kHalfPi;
  const double base_low = direct ? 0.0 : outer ? 2 * detail::kHalfPiLow : detail::kHalfPiLow;
  const bool add = outer ? direct : negative;
  const double signed_t = add ? t : -t, signed_rest = add ? rest : -rest;
  const double sum = base + signed_t;
  return sum + (((base - sum) + signed_t) + (signed_rest + base_low));
}

/// log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))).
TESSERA_HD_INLINE double asinh(double x) {
  const double a = abs(x);
  const bool large = a > 0x1p100;
  const double b = large ? 1.0 : a;
  const double square = b * b;
  const double y = log1p(large ? a : b + square / (1 + sqrt(square + 1)));
  return with_sign(large ? y + detail::ExpConstants<double>::kLn2 : y, sign_of(x));
}

/// log(x + sqrt(x^2 - 1)) = log1p(t + sqrt(2 t + t^2)), t = x - 1; NaN below 1.
TESSERA_HD_INLINE double acosh(double x) {
  const bool large = x > 0x1p100;
  const double t = (large ? 2.0 : x) - 1;
  const double y = log1p(large ? x : t + sqrt(fma(t, t, 2 * t)));
  return x < 1 ? kNaN<double> : large ? y + detail::ExpConstants<double>::kLn2 : y;
}

/// log((1 + a) / (1 - a)) / 2 = log1p(2 a / (1 - a)) / 2; infinite at 1, NaN beyond.
TESSERA_HD_INLINE double atanh(double x) {
  const double a = abs(x);
  const double y = with_sign(0.5 * log1p(2 * a / (1 - a)), sign_of(x));
  return a < detail::ExpConstants<double>::kIdentity ? x : y;
}

TESSERA_HD_INLINE float atan(float x) { return static_cast<float>(atan(double(x))); }
TESSERA_HD_INLINE float atan2(float y, float x) {
  return static_cast<float>(atan2(double(y), double(x)));
}
TESSERA_HD_INLINE float asin(float x) { return static_cast<float>(asin(double(x))); }
TESSERA_HD_INLINE float acos(float x) { return static_cast<float>(acos(double(x))); }
TESSERA_HD_INLINE float asinh(float x) { return static_cast<float>(asinh(double(x))); }
TESSERA_HD_INLINE float acosh(float x) { return static_cast<float>(acosh(double(x))); }
TESSERA_HD_INLINE float atanh(float x) { return static_cast<float>(atanh(double(x))); }

}  // namespace tessera::kernels::vm
