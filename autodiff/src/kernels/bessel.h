// SPDX-License-Identifier: Apache-2.0
//
// Bessel functions of real order and complex argument. Everything comes from the modified functions
// in the right half plane, kept free of their exponentials:
//
//   i = e^{-z} I_v(z),  k = e^{z} K_v(z),   v >= 0, Re z >= 0.
//
//   K   |z| <= 2    N. M. Temme's series for K_m and K_{m+1}, |m| <= 1/2 (1975, J. Comput. Phys.
//                   19, 324)
//       |z| <= 25   the continued fraction of Temme & Steed (Press et al., Numerical Recipes, 6.7)
//       |z| > 25    Hankel's expansion (NIST DLMF 10.40.2)
//                   then K_{u+1} = K_{u-1} + (2 u / z) K_u upwards from m to v, which is stable
//   I   |z|^2 / 4 <= v + 1 or |z| <= 2   the power series (DLMF 10.25.2), whose terms do not
//                                        cancel there
//       |z| > max(25, v^2 / 2)           Hankel's expansion (DLMF 10.40.5)
//       else                             I_{v+1} / I_v by its continued fraction and
//                                        I_v K_{v+1} + I_{v+1} K_v = 1 / z
//
// All else by continuation (DLMF 10.27, 10.34) and reflection (DLMF 10.4, 10.27.2). Orders up to
// about a thousand: the cost grows as |v| + |z|, and there is no uniform expansion. Relative errors
// are a few 1e-15 away from zeros of the function, times v where the order is large.
#pragma once
#include "tessera/autodiff/dtype.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace tessera::kernels::bessel {

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kEps = 0x1p-54;  // a term below this share of the sum no longer counts

/// Between |z| and sqrt(2) |z|: what tells whether a series has converged, without a root.
inline double extent(c128 z) { return std::abs(z.real()) + std::abs(z.imag()); }

/// e^{i pi x}, exact at multiples of 1/2.
inline c128 turn(double x) {
  const double r = std::remainder(x, 2.0);  // exact
  const double quarter = std::round(2 * r), rest = kPi * (r - quarter / 2);
  const double c = std::cos(rest), s = std::sin(rest);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

struct Modified {
  c128 i, k;  ///< e^{-z} I_v(z), e^{z} K_v(z)
};
struct Neighbours {
  c128 low, high;  ///< of orders u and u + 1
};

/// e^z K_m(z) and e^z K_{m+1}(z) for |z| <= 2, |m| <= 1/2.
inline Neighbours k_series(double m, c128 z) {
  // 1 / Gamma(1 -+ m) = even(m^2) +- m odd(m^2), from the Taylor series of 1 / Gamma(1 + m)
  constexpr double even_terms[] = {0x1p+0,
                                   -0x1.4fcf4026afa2ep-1,
                                   0x1.5512320b43fbep-3,
                                   -0x1.3b4af28483e21p-7,
                                   -0x1.317112ce3a2a8p-10,
                                   0x1.0c8a78cd9f9d2p-13,
                                   -0x1.4fad41fc34fbbp-20,
                                   -0x1.b9986666c225dp-23,
                                   0x1.57bc3fc384334p-28,
                                   0x1.cae7675c18607p-34,
                                   -0x1.0423bac8ca3fbp-38};
  constexpr double odd_terms[] = {
      -0x1.2788cfc6fb619p-1, 0x1.5815e8fa27048p-5,  0x1.59af103c34092p-5,   -0x1.d919c527f60b2p-8,
      0x1.c364fe6f1563dp-13, 0x1.51ce8af47eabep-16, -0x1.302509dbc0de3p-20, -0x1.a44b7ba22d629p-28,
      0x1.44b4cedca388fp-30, -0x1.11d065bfaf067p-37};
  const double mm = m * m;
  double even = 0, odd = 0;
  for (int j = 10; j >= 0; --j) even = even * mm + even_terms[j];
  for (int j = 9; j >= 0; --j) odd = odd * mm + odd_terms[j];
  const double angle = kPi * m, fact = std::abs(angle) < 1e-9 ? 1 : angle / std::sin(angle);
  const c128 half = 0.5 * z, d = -std::log(half), e = m * d, ee = e * e;
  const c128 sinhc =
      std::abs(e) < 0.1 ? 1.0 + ee / 6.0 * (1.0 + ee / 20.0 * (1.0 + ee / 42.0 * (1.0 + ee / 72.0)))
                        : std::sinh(e) / e;
  c128 f = fact * (odd * std::cosh(e) + even * sinhc * d);
  const c128 power = std::exp(e);
  c128 p = 0.5 * power / (even - m * odd), q = 0.5 / (power * (even + m * odd)), c = 1, sum = f,
       sum1 = p;
  const c128 square = half * half;
  for (int j = 1; j < 100; ++j) {
    f = (static_cast<double>(j) * f + p + q) / (j * j - mm);
    c *= square / static_cast<double>(j);
    p /= j - m;
    q /= j + m;
    const c128 step = c * f, step1 = c * (p - static_cast<double>(j) * f);
    sum += step;
    sum1 += step1;
    if (extent(step) < kEps * extent(sum) && extent(step1) < kEps * extent(sum1)) break;
  }
  const c128 scale = std::exp(z);
  return {sum * scale, sum1 / half * scale};
}

/// The same for |z| > 2.
inline Neighbours k_fraction(double m, c128 z) {
  const double a1 = 0.25 - m * m;
  c128 b = 2.0 * (1.0 + z), d = 1.0 / b, h = d, step = d, q1 = 0, q2 = 1, q = a1,
       s = 1.0 + q * step;
  double c = a1, a = -a1;
  for (int j = 2; j < 20000; ++j) {
    a -= 2 * (j - 1);
    c = -a * c / j;
    const c128 next = (q1 - b * q2) / a;
    q1 = q2;
    q2 = next;
    q += c * next;
    b += 2.0;
    d = 1.0 / (b + a * d);
    step = (b * d - 1.0) * step;
    h += step;
    const c128 ds = q * step;
    s += ds;
    if (extent(ds) < kEps * extent(s)) break;
  }
  const c128 low = std::sqrt(kPi / (2.0 * z)) / s;
  return {low, low * (m + z + 0.5 - a1 * h) / z};
}

/// sum_j sign^j a_j(v) / z^j, a_j = (4 v^2 - 1)(4 v^2 - 9) ... / (j! 8^j), up to its smallest term.
inline c128 hankel_sum(double v, c128 z, double sign) {
  const c128 u = sign / (8.0 * z);
  c128 term = 1, sum = 1;
  double before = 1;
  for (int j = 1; j < 200; ++j) {
    const double odd = 2 * j - 1;
    term *= ((2 * v - odd) * (2 * v + odd) / j) * u;
    const double size = std::abs(term);
    if (size > before && j > v) break;
    sum += term;
    if (size < kEps * std::abs(sum)) break;
    before = size;
  }
  return sum;
}

/// e^z K_v(z) and e^z K_{v+1}(z).
inline Neighbours k_pair(double v, c128 z) {
  const double n = std::floor(v + 0.5), m = v - n;
  const double size = std::abs(z);
  Neighbours k;
  if (size <= 2)
    k = k_series(m, z);
  else if (size <= 25)
    k = k_fraction(m, z);
  else {
    const c128 front = std::sqrt(kPi / (2.0 * z));
    k = {front * hankel_sum(m, z, 1), front * hankel_sum(m + 1, z, 1)};
  }
  for (double u = m + 1; u <= v + 0.5; u += 1) {
    const c128 next = k.low + 2 * u / z * k.high;
    if (!(std::abs(next) < 1e300)) return {u + 1 > v + 0.5 ? k.high : kInf, kInf};
    k = {k.high, next};
  }
  return k;
}

/// I_{v+1}(z) / I_v(z) = 1 / (2 (v+1) / z + 1 / (2 (v+2) / z + ...)) by Lentz's method.
inline c128 i_ratio(double v, c128 z) {
  constexpr double tiny = 1e-280;
  c128 f = tiny, c = tiny, d = 0;
  for (int j = 1; j < 2000000; ++j) {
    const c128 b = 2 * (v + j) / z;
    d = b + d;
    if (d == 0.0) d = tiny;
    d = 1.0 / d;
    c = b + 1.0 / c;
    if (c == 0.0) c = tiny;
    const c128 change = c * d;
    f *= change;
    if (extent(change - 1.0) < 2 * kEps) break;
  }
  return f;
}

/// v >= 0, Re z >= 0, z != 0.
inline Modified modified(double v, c128 z) {
  const double size = std::abs(z);
  const Neighbours k = k_pair(v, z);
  if (size <= 2 || size * size <= 4 * (v + 1)) {
    // |z/2|^v and the phase apart: their errors do not grow with v log |z|
    const double radius = v < 160 ? std::pow(0.5 * size, v) / std::tgamma(v + 1)
                                  : std::exp(v * std::log(0.5 * size) - std::lgamma(v + 1));
    const c128 front = radius * turn(v * std::arg(z) / kPi), square = 0.25 * z * z;
    c128 term = 1, sum = 1;
    for (int j = 1; j < 500; ++j) {
      term *= square / (j * (v + j));
      sum += term;
      if (extent(term) < kEps * extent(sum)) break;
    }
    return {front * sum * std::exp(-z), k.low};
  }
  if (size > 25 && size > 0.5 * v * v) {
    const double side = std::signbit(z.imag()) ? -1 : 1;
    const c128 grown = hankel_sum(v, z, -1), decayed = std::exp(-2.0 * z) * hankel_sum(v, z, 1);
    return {(grown + turn(side * (v + 0.5)) * decayed) / std::sqrt(2 * kPi * z), k.low};
  }
  if (std::isinf(k.high.real())) return {0, k.low};
  return {1.0 / (z * (k.high + i_ratio(v, z) * k.low)), k.low};
}

enum class Kind : int { j, y, i, k, h1, h2 };

/// The limit at 0 along the positive axis. J_{-v} and I_{-v} go as z^{-v} / Gamma(1 - v), which has
/// the sign of (-1)^floor(v) and is 0 for whole v > 0; with Y_v -> -infinity
///   Y_{-v} = cos(pi v) Y_v + sin(pi v) J_v,   H_{-v} = e^{+-i pi v} H_v.
inline c128 at_zero(Kind kind, double v, bool reflected) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double cosine = reflected ? turn(v).real() : 1;
  const double down = cosine == 0 ? 0 : cosine > 0 ? -kInf : kInf;
  switch (kind) {
    case Kind::y:
      return down;
    case Kind::k:
      return kInf;
    case Kind::h1:
      return {nan, cosine == 0 ? nan : down};
    case Kind::h2:
      return {nan, cosine == 0 ? nan : -down};
    default:
      if (v == 0) return 1;
      if (!reflected || v == std::floor(v)) return 0;
      return std::fmod(std::floor(v), 2) == 0 ? kInf : -kInf;
  }
}

/// Orders v >= 0, upper half plane (Im z >= 0 or +0): J, Y, H1, H2 by w = -i z, Re w >= 0.
/// `scaled`: times e^{-|Im z|} (J, Y), e^{-iz} (H1), e^{iz} (H2).
inline c128 cylinder_above(Kind kind, double v, bool reflected, c128 z, bool scaled) {
  const double x = z.real(), y = z.imag();
  const Modified w = modified(v, {y, -x});
  // Too near 0 for K: beyond the range of double, where its phase is lost.
  const bool in_range = std::isfinite(w.k.real()) && std::isfinite(w.k.imag());
  const bool by_j_alone = kind == Kind::j && (!reflected || v == std::floor(v));
  if (!in_range && !by_j_alone && x > 0 && y == 0) return at_zero(kind, v, reflected);
  const c128 p = turn(0.5 * v), wave(std::cos(x), std::sin(x));
  c128 j = p * w.i * std::conj(wave);                      // e^{-y} J
  c128 h = c128(0, -2 / kPi) * std::conj(p) * w.k * wave;  // e^{y} H1
  const c128 quarter(0, -1);
  if (scaled) {
    if (kind == Kind::h1) return (reflected ? turn(v) : 1.0) * (h * std::conj(wave));
    h *= std::exp(-2 * y);
    if (kind == Kind::h2) return (reflected ? turn(-v) : 1.0) * ((2.0 * j - h) * wave);
  } else {
    j *= std::exp(y), h *= std::exp(-y);
    if (kind == Kind::h1) return (reflected ? turn(v) : 1.0) * h;
    if (kind == Kind::h2) return (reflected ? turn(-v) : 1.0) * (2.0 * j - h);
  }
  const c128 yv = quarter * (h - j);
  if (!reflected) return kind == Kind::j ? j : yv;
  const c128 t = turn(v);
  if (kind == Kind::j) return t.imag() == 0 ? t.real() * j : t.real() * j - t.imag() * yv;
  return t.imag() == 0 ? t.real() * yv : t.imag() * j + t.real() * yv;
}
/// I and K, upper half plane. `scaled`: times e^{-|Re z|} (I), e^{z} (K).
inline c128 modified_above(Kind kind, double v, bool reflected, c128 z, bool scaled) {
  const bool left = z.real() < 0;
  const c128 w = left ? -z : z;
  const Modified m = modified(v, w);
  const double a = w.real();
  if (kind == Kind::k) {
    if (!left) return scaled ? m.k : m.k * std::exp(-w);
    const c128 first = turn(-v) * m.k, second = c128(0, -kPi) * m.i;
    return scaled ? first * std::exp(-2.0 * w) + second
                  : first * std::exp(-w) + second * std::exp(w);
  }
  const c128 wave(std::cos(w.imag()), std::sin(w.imag()));
  c128 i = m.i * wave;                                // e^{-a} I(w)
  c128 k = m.k * std::conj(wave) * std::exp(-2 * a);  // e^{-a} K(w)
  if (left) {
    const c128 turned = turn(v) * i;
    k = turn(-v) * k - c128(0, kPi) * i;
    i = turned;
  }
  const double sine = reflected ? turn(v).imag() : 0;
  if (sine != 0) i += 2 / kPi * sine * k;
  return scaled ? i : i * std::exp(a);
}

/// Any order, any argument; at 0 the limit along the positive axis.
inline c128 value(Kind kind, double order, c128 z, bool scaled) {
  const double v = std::abs(order);
  const bool reflected = order < 0;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (!(std::isfinite(z.real()) && std::isfinite(z.imag()) && std::isfinite(v))) return {nan, nan};
  if (z == 0.0) return at_zero(kind, v, reflected);
  const bool below = std::signbit(z.imag());
  if (kind == Kind::i || kind == Kind::k) {
    const c128 f = modified_above(kind, v, reflected, below ? std::conj(z) : z, scaled);
    return below ? std::conj(f) : f;
  }
  if (!below) return cylinder_above(kind, v, reflected, z, scaled);
  const Kind other = kind == Kind::h1 ? Kind::h2 : kind == Kind::h2 ? Kind::h1 : kind;
  return std::conj(cylinder_above(other, v, reflected, std::conj(z), scaled));
}

/// Real arguments: NaN below zero where the value is complex.
inline double value(Kind kind, double order, double x, bool scaled) {
  const double v = std::abs(order);
  const bool first = kind == Kind::j || kind == Kind::i;
  if (std::isinf(x) && x > 0) return kind == Kind::i && !scaled ? kInf : 0;
  if (x < 0) {
    if (!first || v != std::floor(v)) return std::numeric_limits<double>::quiet_NaN();
    return (std::fmod(v, 2) == 0 ? 1 : -1) * value(kind, order, -x, scaled);
  }
  return value(kind, order, c128(x, 0.0), scaled).real();
}

}  // namespace tessera::kernels::bessel
