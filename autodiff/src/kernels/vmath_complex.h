// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_inverse.h"
#include "vmath_power.h"
#include "vmath_trig.h"

// Complex functions on separate real and imaginary parts, for loops that vectorise.
//
// Branch cuts are the usual ones (C99 annex G); on a cut the sign of the zero chooses the side.
// There is no repair of NaN afterwards: a product or quotient with an infinite part may be NaN
// where annex G asks for infinity. complex<float> goes through double, except for the product.
//
// The functions with a sine inside are templates on kNear: true is for |re| and |im| up to
// kTrigLimit<double> and vectorises, false holds everywhere; both give the same bits where both
// hold.
namespace tessera::kernels::vm {

template <class T>
struct cplx {
  T re, im;
};
using c64 = cplx<float>;
using c128 = cplx<double>;

TESSERA_HD_INLINE c128 widen(c64 z) { return {z.re, z.im}; }
TESSERA_HD_INLINE c64 narrow(c128 z) {
  return {static_cast<float>(z.re), static_cast<float>(z.im)};
}

template <Real T>
TESSERA_HD_INLINE cplx<T> operator+(cplx<T> a, cplx<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <Real T>
TESSERA_HD_INLINE cplx<T> operator-(cplx<T> a, cplx<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <Real T>
TESSERA_HD_INLINE cplx<T> operator-(cplx<T> a) {
  return {-a.re, -a.im};
}
/// The plain product, each operation rounded: commutative, and z conj(z) is exactly real.
template <Real T>
TESSERA_HD_INLINE cplx<T> operator*(cplx<T> a, cplx<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <Real T>
TESSERA_HD_INLINE cplx<T> conj(cplx<T> a) {
  return {a.re, -a.im};
}
/// (im, re) = i conj(z): turns sin into sinh, asin into asinh and so on.
template <Real T>
TESSERA_HD_INLINE cplx<T> swap_parts(cplx<T> a) {
  return {a.im, a.re};
}

namespace detail {

/// a b + c d with an error below 1.5 ulp of the result (Kahan; Jeannerod, Louvet & Muller, Math.
/// Comp. 82 (2013)).
TESSERA_HD_INLINE double sum_of_products(double a, double b, double c, double d) {
  const double w = c * d;
  const double error = fma(c, d, -w);
  return fma(a, b, w) + error;
}
/// A power of two that brings x near 1, as a normal number.
TESSERA_HD_INLINE double normalizer(double x) {
  std::uint64_t exponent = to_bits(x) >> 52;
  exponent = exponent > 2045 ? 2045 : exponent < 1 ? 1 : exponent;
  return from_bits<double>((2046 - exponent) << 52);
}
TESSERA_HD_INLINE double larger(double a, double b) { return a > b ? a : b; }
TESSERA_HD_INLINE double smaller(double a, double b) { return a > b ? b : a; }

}  // namespace detail

/// a / b, each part to a few ulp, without over- or underflow on the way. Division by zero gives
/// NaN.
TESSERA_HD_INLINE c128 operator/(c128 a, c128 b) {
  const double up = detail::normalizer(detail::larger(abs(a.re), abs(a.im)));
  const double down = detail::normalizer(detail::larger(abs(b.re), abs(b.im)));
  const double ar = a.re * up, ai = a.im * up, br = b.re * down, bi = b.im * down;
  const double square = fma(br, br, bi * bi);
  const double re = detail::sum_of_products(ar, br, ai, bi) / square;
  const double im = detail::sum_of_products(ai, br, -ar, bi) / square;
  // times down / up; the larger of the two steps last
  const double back = 1 / up;
  const bool first = abs(down) < 1;
  const double s1 = first ? down : back, s2 = first ? back : down;
  return {(re * s1) * s2, (im * s1) * s2};
}
TESSERA_HD_INLINE c64 operator/(c64 a, c64 b) {
  const c128 x = widen(a), y = widen(b);
  const double square = y.re * y.re + y.im * y.im;
  return narrow({(x.re * y.re + x.im * y.im) / square, (x.im * y.re - x.re * y.im) / square});
}

/// |z| without overflow; infinite if a part is, even beside a NaN.
TESSERA_HD_INLINE double abs(c128 z) {
  const double x = abs(z.re), y = abs(z.im);
  const double largest = detail::larger(x, y);
  const double s = largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-500 ? 0x1p600 : 1.0;
  const double back = largest > 0x1p500 ? 0x1p600 : largest < 0x1p-500 ? 0x1p-600 : 1.0;
  const double u = x * s, v = y * s;
  const double r = sqrt(fma(u, u, v * v)) * back;
  return (x == kInfinity<double>) | (y == kInfinity<double>) ? kInfinity<double> : r;
}
/// Angle in [-pi, pi].
TESSERA_HD_INLINE double arg(c128 z) { return atan2(z.im, z.re); }

/// The square root with a real part >= 0; its imaginary part has the sign of im z.
TESSERA_HD_INLINE c128 sqrt(c128 z) {
  const double largest = detail::larger(abs(z.re), abs(z.im));
  const double s = largest > 0x1p1000 ? 0x1p-8 : largest < 0x1p-900 ? 0x1p200 : 1.0;
  const double back = largest > 0x1p1000 ? 0x1p4 : largest < 0x1p-900 ? 0x1p-100 : 1.0;
  const c128 w{z.re * s, z.im * s};
  const double t = sqrt(0.5 * (abs(w.re) + abs(w)));
  const double other = 0.5 * (abs(w.im) / t);
  const bool left = z.re < 0;
  double re = (left ? other : t) * back, im = (left ? t : other) * back;
  im = (z.re == 0) & (z.im == 0) ? 0.0 : im;
  re = abs(z.im) == kInfinity<double> ? kInfinity<double> : re;
  im = abs(z.im) == kInfinity<double> ? kInfinity<double> : im;
  return {re, with_sign(im, sign_of(z.im))};
}

/// log |z|: near the unit circle from |z|^2 - 1 in two doubles, elsewhere from |z| scaled into
/// range.
TESSERA_HD_INLINE double log_abs(c128 z) {
  const double x = abs(z.re), y = abs(z.im);
  const double a = detail::larger(x, y), b = detail::smaller(x, y);
  // t + low = (a - 1)(a + 1) + b^2 = 2 e + e^2 + b^2
  const double e = a - 1;
  const double e2 = e * e, e2_low = fma(e, e, -e2);
  const double b2 = b * b, b2_low = fma(b, b, -b2);
  const double squares = e2 + b2;
  const double back = squares - e2;
  const double squares_low = (e2 - (squares - back)) + (b2 - back);
  const double t = 2 * e + squares;
  const double back2 = t - 2 * e;
  const double low = (2 * e - (t - back2)) + (squares - back2) + (squares_low + (e2_low + b2_low));
  const double sum = t + low;
  const double near = 0.5 * (log1p(sum) + ((t - sum) + low) / (1 + sum));
  const bool close = (a > 0.5) & (a < 2) & (b < 2);
  const double s = a > 0x1p1000 ? 0x1p-100 : a < 0x1p-900 ? 0x1p200 : 1.0;
  const double k = a > 0x1p1000 ? 100.0 : a < 0x1p-900 ? -200.0 : 0.0;
  const double far = fma(k, detail::ExpConstants<double>::kLn2, log(abs(c128{x * s, y * s})));
  return close ? near : far;
}
TESSERA_HD_INLINE c128 log(c128 z) { return {log_abs(z), arg(z)}; }

namespace detail {

/// e^x as value * factor, so that a product with a small sine stays finite where e^x is not.
struct Scaled {
  double value, factor;
};
inline constexpr double kFactor = 0x1.a220d397972ebp+57;  // e^40, itself rounded
TESSERA_HD_INLINE Scaled exp_scaled(double x) {
  const bool high = x > 709;
  return {exp(high ? x - 40 : x), high ? kFactor : 1.0};
}
struct SinhCosh {
  double sinh, cosh, factor;
};
TESSERA_HD_INLINE SinhCosh sinh_cosh(double x) {
  const double a = abs(x);
  const bool high = a > 709;
  const double b = high ? a - 40 : a;
  return {with_sign(sinh(b), sign_of(x)), cosh(b), high ? kFactor : 1.0};
}
/// a * b where 0 * infinity is meant to be 0.
TESSERA_HD_INLINE double times_zero(double zero, double b) { return zero == 0 ? zero : zero * b; }

}  // namespace detail

template <bool kNear = false>
TESSERA_HD_INLINE c128 exp(c128 z) {
  const auto [s, c] = sin_cos<kNear>(z.im);
  const auto [e, factor] = detail::exp_scaled(z.re);
  return {(e * c) * factor, detail::times_zero(s, e) * factor};
}
/// (e^x - 1) cos y - 2 sin^2(y/2) + i e^x sin y; beyond x = 40, where e^x - 1 is e^x to the last
/// bit, exp(z) - 1, which is finite wherever it can be.
TESSERA_HD_INLINE c128 expm1(c128 z) {
  if (z.re > 40) {
    const c128 e = exp(z);
    return {e.re - 1, e.im};
  }
  const double s = sin(z.im / 2), e = expm1(z.re);
  return {e * cos(z.im) - 2 * s * s, exp(z.re) * sin(z.im)};
}
/// sinh x cos y + i cosh x sin y.
template <bool kNear = false>
TESSERA_HD_INLINE c128 sinh(c128 z) {
  const auto [s, c] = sin_cos<kNear>(z.im);
  const auto [sh, ch, factor] = detail::sinh_cosh(z.re);
  return {(sh * c) * factor, detail::times_zero(s, ch) * factor};
}
/// cosh x cos y + i sinh x sin y.
template <bool kNear = false>
TESSERA_HD_INLINE c128 cosh(c128 z) {
  const auto [s, c] = sin_cos<kNear>(z.im);
  const auto [sh, ch, factor] = detail::sinh_cosh(z.re);
  return {(ch * c) * factor, detail::times_zero(s, sh) * factor};
}
/// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y); beyond |x| = 20 +-1 and 4 sin y cos y
/// e^(-2|x|).
template <bool kNear = false>
TESSERA_HD_INLINE c128 tanh(c128 z) {
  const auto [s, c] = sin_cos<kNear>(z.im);
  const double a = abs(z.re);
  const bool large = a > 20;
  const double b = large ? 1.0 : a;
  const double sh = sinh(b), ch = cosh(b);
  const double denominator = fma(sh, sh, c * c);
  const double e = exp(-a);
  const double one = a < kInfinity<double> ? 1.0 + 0 * s : 1.0;  // NaN where y is NaN or infinite
  const double re = large ? one : sh * ch / denominator;
  const double im = large ? (4 * s * c * e) * e : s * c / denominator;
  return {with_sign(re, sign_of(z.re)), im};
}
template <bool kNear = false>
TESSERA_HD_INLINE c128 sin(c128 z) {
  return swap_parts(sinh<kNear>(swap_parts(z)));
}
/// cos(x + iy) = cosh(-y + ix).
template <bool kNear = false>
TESSERA_HD_INLINE c128 cos(c128 z) {
  return cosh<kNear>(c128{-z.im, z.re});
}
template <bool kNear = false>
TESSERA_HD_INLINE c128 tan(c128 z) {
  return swap_parts(tanh<kNear>(swap_parts(z)));
}

// The inverses follow W. Kahan, "Branch cuts for complex elementary functions" (1987).
// Where a product of the roots could overflow, z is taken 2^-100 as large, which adds to the
// logarithm only. Of an infinite z they have what C99 annex G asks for: the angle of z, beside an
// infinite logarithm.
namespace detail {
inline constexpr double kShift = 0x1.1542457337d43p+6;  // 100 ln2
TESSERA_HD_INLINE bool near_overflow(c128 z) { return larger(abs(z.re), abs(z.im)) > 0x1p1000; }
TESSERA_HD_INLINE bool is_infinite(c128 z) {
  return (abs(z.re) == kInfinity<double>) | (abs(z.im) == kInfinity<double>);
}
TESSERA_HD_INLINE c128 shrink(c128 z) {
  const double s = near_overflow(z) ? 0x1p-100 : 1.0;
  return {z.re * s, z.im * s};
}
TESSERA_HD_INLINE double asinh_grown(double x, bool shrunk) {
  const double y = asinh(x);
  return shrunk ? y + with_sign(kShift, sign_of(x)) : y;
}
}  // namespace detail
TESSERA_HD_INLINE c128 asin(c128 z) {
  const c128 w = detail::shrink(z);
  const c128 p = sqrt(c128{1 - w.re, -w.im}), q = sqrt(c128{1 + w.re, w.im});
  const bool infinite = detail::is_infinite(z);
  const double along = infinite ? abs(z.im) : p.re * q.re - p.im * q.im;
  const double up =
      infinite ? with_sign(kInfinity<double>, sign_of(z.im)) : p.re * q.im - p.im * q.re;
  return {atan2(w.re, along), detail::asinh_grown(up, detail::near_overflow(z))};
}
TESSERA_HD_INLINE c128 acos(c128 z) {
  const c128 w = detail::shrink(z);
  const c128 p = sqrt(c128{1 - w.re, -w.im}), q = sqrt(c128{1 + w.re, w.im});
  const bool infinite = detail::is_infinite(z);
  const double half = atan2(infinite ? abs(z.im) : p.re, infinite ? z.re : q.re);
  const double down =
      infinite ? -with_sign(kInfinity<double>, sign_of(z.im)) : q.re * p.im - q.im * p.re;
  return {infinite ? half : 2 * half, detail::asinh_grown(down, detail::near_overflow(z))};
}
TESSERA_HD_INLINE c128 asinh(c128 z) { return swap_parts(asin(swap_parts(z))); }
TESSERA_HD_INLINE c128 acosh(c128 z) {
  const c128 w = detail::shrink(z);
  const c128 p = sqrt(c128{w.re - 1, w.im}), q = sqrt(c128{w.re + 1, w.im});
  const bool infinite = detail::is_infinite(z);
  const double along = infinite ? kInfinity<double> : p.re * q.re + p.im * q.im;
  const double half = atan2(infinite ? z.im : p.im, infinite ? z.re : q.re);
  return {detail::asinh_grown(along, detail::near_overflow(z)), infinite ? half : 2 * half};
}
/// log1p(4 x / ((1 - x)^2 + y^2)) / 4 + i atan2(2 y, (1 - x)(1 + x) - y^2) / 2 for x >= 0, odd in x
/// + iy.
TESSERA_HD_INLINE c128 atanh(c128 z) {
  const double x = abs(z.re), y = z.re < 0 ? -z.im : z.im;
  const bool huge = detail::larger(x, abs(y)) > 0x1p500;
  const double u = huge ? 1.0 : x, v = huge ? 1.0 : y;
  // next to the pole at 1 the squares underflow: (log 2 - log |y|) / 2 there
  const bool pole = (u == 1) & (abs(v) < 0x1p-500);
  const double plain = 0.25 * log1p(4 * u / fma(1 - u, 1 - u, v * v));
  const double steep = 0.5 * (detail::ExpConstants<double>::kLn2 - log(abs(v)));
  const double re = pole ? steep : plain;
  const double im = 0.5 * atan2(2 * v, (1 - u) * (1 + u) - v * v);
  // 1 / z and a quarter turn
  const c128 w = detail::shrink({x, y});
  const double r = abs(w);
  const double far = (w.re / r) / r * (detail::near_overflow({x, y}) ? 0x1p-100 : 1.0);
  const double quarter = with_sign(detail::kHalfPi, sign_of(y));
  const bool flip = sign_of(z.re) != 0;
  const bool infinite = detail::is_infinite(z);
  const double a = infinite ? 0.0 : huge ? far : re;
  const double b = huge | (infinite & (y == y)) ? quarter : im;
  return {flip ? -a : a, z.re < 0 ? -b : b};
}
TESSERA_HD_INLINE c128 atan(c128 z) { return swap_parts(atanh(swap_parts(z))); }

/// e^(w log z); 0^w is 0 for re w > 0, 1 for w = 0 and NaN otherwise. The error grows with |w log
/// z|.
TESSERA_HD_INLINE c128 pow(c128 z, c128 w) {
  const c128 y = exp(w * log(z));
  const bool zero = (z.re == 0) & (z.im == 0), one = (w.re == 0) & (w.im == 0);
  const double at_zero = w.re > 0 ? 0.0 : kNaN<double>;
  return {one ? 1.0 : zero ? at_zero : y.re, one ? 0.0 : zero ? at_zero : y.im};
}

TESSERA_HD_INLINE float abs(c64 z) { return static_cast<float>(abs(widen(z))); }
TESSERA_HD_INLINE float arg(c64 z) { return static_cast<float>(arg(widen(z))); }
TESSERA_HD_INLINE c64 sqrt(c64 z) { return narrow(sqrt(widen(z))); }
TESSERA_HD_INLINE c64 log(c64 z) { return narrow(log(widen(z))); }
template <bool kNear = false>
TESSERA_HD_INLINE c64 exp(c64 z) {
  return narrow(exp<kNear>(widen(z)));
}
TESSERA_HD_INLINE c64 expm1(c64 z) { return narrow(expm1(widen(z))); }
template <bool kNear = false>
TESSERA_HD_INLINE c64 sinh(c64 z) {
  return narrow(sinh<kNear>(widen(z)));
}
template <bool kNear = false>
TESSERA_HD_INLINE c64 cosh(c64 z) {
  return narrow(cosh<kNear>(widen(z)));
}
template <bool kNear = false>
TESSERA_HD_INLINE c64 tanh(c64 z) {
  return narrow(tanh<kNear>(widen(z)));
}
template <bool kNear = false>
TESSERA_HD_INLINE c64 sin(c64 z) {
  return narrow(sin<kNear>(widen(z)));
}
template <bool kNear = false>
TESSERA_HD_INLINE c64 cos(c64 z) {
  return narrow(cos<kNear>(widen(z)));
}
template <bool kNear = false>
TESSERA_HD_INLINE c64 tan(c64 z) {
  return narrow(tan<kNear>(widen(z)));
}
TESSERA_HD_INLINE c64 asin(c64 z) { return narrow(asin(widen(z))); }
TESSERA_HD_INLINE c64 acos(c64 z) { return narrow(acos(widen(z))); }
TESSERA_HD_INLINE c64 atan(c64 z) { return narrow(atan(widen(z))); }
TESSERA_HD_INLINE c64 asinh(c64 z) { return narrow(asinh(widen(z))); }
TESSERA_HD_INLINE c64 acosh(c64 z) { return narrow(acosh(widen(z))); }
TESSERA_HD_INLINE c64 atanh(c64 z) { return narrow(atanh(widen(z))); }
TESSERA_HD_INLINE c64 pow(c64 z, c64 w) { return narrow(pow(widen(z), widen(w))); }

}  // namespace tessera::kernels::vm
