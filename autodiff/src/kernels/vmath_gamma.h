// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_power.h"
#include "vmath_trig.h"

// lgamma, digamma, polygamma. Plain scalar code with branches: the loops over them are not
// vectorised. Positive arguments are good to a few ulp; at negative ones the error is a few ulp of
// the larger term of the reflection formula, so that it is absolute next to the zeros of the
// function.
namespace tessera::kernels::vm {

namespace detail {

inline constexpr double kPi = 0x1.921fb54442d18p+1;

/// sin and cos of pi x for |x| <= 1/2.
TESSERA_HD inline Pair<double> sin_cos_pi(double x) {
  constexpr double kPiLow = 0x1.1a62633145c07p-53;
  const double high = kPi * x;
  const double low = fma(kPi, x, -high) + kPiLow * x;
  Angle<double> a = reduce_near(abs(high));
  a.low += high < 0 ? -low : low;
  const double s = with_sign(sin_of(a), sign_of(high));
  a.n += 1;
  return {s, sin_of(a)};
}

/// lgamma(1 - z), 0 <= z <= 1/2.
TESSERA_HD inline double lgamma_below_one(double z) {
  return z * poly(z, 0x1.2788cfc6fb619p-1, 0x1.a51a6625307dp-1, 0x1.9a4d55beaba6bp-2,
                  0x1.151322ac3b373p-2, 0x1.a8b9c1a105418p-3, 0x1.5b40c4438577ap-3,
                  0x1.27046fe976056p-3, 0x1.00f9f48faba6bp-3, 0x1.ca274a00224f5p-4,
                  0x1.8090365328b44p-4, 0x1.2fd7d1c057fe6p-3, -0x1.54bfa381a653dp-2,
                  0x1.3baa32e56e9bcp+1, -0x1.5b7075f85ab72p+3, 0x1.3fc43d5994428p+5,
                  -0x1.cffbb2ecd1391p+6, 0x1.0b27ef6975b73p+8, -0x1.e055adf4f7e28p+8,
                  0x1.4abd5df3befb2p+9, -0x1.51035d3d40cfcp+9, 0x1.e02ee893912efp+8,
                  -0x1.ac3b6525fecd7p+7, 0x1.6b39bb9be3c66p+5);
}
/// lgamma(1 + t), 0 <= t <= 1.
TESSERA_HD inline double lgamma_one_to_two(double t) {
  const double p = poly(
      t - 0.5, 0x1.eeb95b094c191p-2, -0x1.2aed059bd608ap-3, 0x1.01af62a2929bfp-4,
      -0x1.007aa83cee0f6p-5, 0x1.133423527f403p-6, -0x1.34dbda14a688ep-7, 0x1.64f0664c3506dp-8,
      -0x1.a503522914d88p-9, 0x1.f814babf6e8acp-10, -0x1.313e8bdffecb3p-10, 0x1.750a77bd06255p-11,
      -0x1.cb44892efa394p-12, 0x1.1c7e51340f17cp-12, -0x1.624492621fcd9p-13, 0x1.b9e22c629a2e5p-14,
      -0x1.1531941fd5730p-14, 0x1.68ff12916347bp-15, -0x1.cb35d2ab401bep-16, 0x1.ba0ac24eed007p-17,
      -0x1.0e3b06e7b9ab7p-17, 0x1.97ad687057ac9p-17, -0x1.0c1fe351a7371p-17);
  return t * (t - 1) * p + 0.0;  // +0 at 1 and 2, not -0
}
/// lgamma(2 + t), 0 <= t <= 1.
TESSERA_HD inline double lgamma_two_to_three(double t) {
  return t * poly(t - 0.5, 0x1.2383e809a67e8p-1, 0x1.1200f695b0dd9p-2, -0x1.6f0ca9a1c2735p-5,
                  0x1.646ae6e41943p-7, -0x1.95b11573dd69cp-9, 0x1.f7e4615f045e7p-11,
                  -0x1.4a5d12cc306dcp-12, 0x1.c135f992bb2p-14, -0x1.3957c3723f489p-15,
                  0x1.bd757e873bed8p-17, -0x1.4134763bf0deap-18, 0x1.d497636965e6bp-20,
                  -0x1.58e2183508f03p-21, 0x1.f978e5b1eef12p-23, -0x1.7617a0010d0ffp-24,
                  0x1.4c8cbaf69ba7fp-25, -0x1.054c1cdcc0d48p-26);
}

TESSERA_HD inline double lgamma_positive(double x) {
  if (x < 0.5) return lgamma_one_to_two(x) - log(x);
  if (x < 1) return lgamma_below_one(1 - x);
  if (x < 2) return lgamma_one_to_two(x - 1);
  if (x < 3) return lgamma_two_to_three(x - 2);
  if (x < 10) {
    double product = 1, t = x;
    while (t >= 3) {
      t -= 1;
      product *= t;
    }
    return log(product) + lgamma_two_to_three(t - 2);
  }
  // Stirling's series; the sum of its terms from 1 / x^15 on is below 2^-60 here
  const double u = 1 / x, z = u * u;
  const double series =
      u * poly(z, 0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,
               -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10,
               0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6);
  constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;
  const double l = log(x);
  return fma(x - 0.5, l - 1, (kHalfLog2Pi - 0.5) + series);
}

}  // namespace detail

/// log |Gamma(x)|; infinite at 0, -1, -2, ... and at both infinities.
TESSERA_HD inline double lgamma(double x) {
  if (!(abs(x) < kInfinity<double>)) return x * x;
  if (x > 0) return detail::lgamma_positive(x);
  const double a = -x;
  const double nearest = detail::floor(a + 0.5);
  if (a == nearest) return kInfinity<double>;
  if (a < 0x1p-60) return -log(a);
  // |Gamma(-a)| Gamma(a) a |sin(pi a)| = pi
  const double s = abs(detail::sin_cos_pi(a - nearest).high);
  return log(detail::kPi / (a * s)) - detail::lgamma_positive(a);
}

/// psi(x) = d/dx log Gamma(x); NaN at -1, -2, ..., -infinity at +0, +infinity at -0.
TESSERA_HD inline double digamma(double x) {
  if (abs(x) < 0x1p-60) return -1 / x;
  double shift = 0;
  if (x < 0) {  // psi(1 - x) - psi(x) = pi / tan(pi x), and psi(1 + a) = psi(a) + 1 / a
    const double a = -x;
    const double nearest = detail::floor(a + 0.5);
    if (a == nearest || !(a < kInfinity<double>)) return kNaN<double>;
    const auto [s, c] = detail::sin_cos_pi(a - nearest);
    shift = detail::kPi * (c / s) + 1 / a;
    x = a;
  }
  if (x < 10) {
    if (x < 1) {
      shift -= 1 / x;
      x += 1;
    }
    double up = 0;
    while (x >= 2) {
      x -= 1;
      up += 1 / x;
    }
    constexpr double kRoot = 0x1.762d86356be3fp+0, kRootLow = 0x1.b86a722197829p-54;
    const double p = poly(x - 1.5, 0x1.e6f0cbb873617p-1, -0x1.b1cb63005ee98p-2,
                          0x1.eca189b8e6d99p-3, -0x1.2feeeb98a7a33p-3, 0x1.8512e5905da51p-4,
                          -0x1.fb44202a072cdp-5, 0x1.4de9aa059a9eap-5, -0x1.b9f8b124a09a4p-6,
                          0x1.256475f137003p-6, -0x1.8635627b64c9ep-7, 0x1.03c006a8160d6p-7,
                          -0x1.5a06cc7260b6ep-8, 0x1.cd3e74090e1adp-9, -0x1.336b43ebbc0c4p-9,
                          0x1.980d9ec061b47p-10, -0x1.0fcd43c522157p-10, 0x1.7b4a073bff5fdp-11,
                          -0x1.fc473cc0df9a1p-12, 0x1.dc1b769bbdcb5p-13, -0x1.343a7a5a33891p-13,
                          0x1.10793f7bb55bdp-12, -0x1.7248c3c585926p-13);
    return shift + (((x - kRoot) - kRootLow) * p + up);
  }
  const double u = 1 / x, z = u * u;
  const double series =
      z * poly(z, 0x1.5555555555555p-4, -0x1.1111111111111p-7, 0x1.041041041041p-8,
               -0x1.1111111111111p-8, 0x1.f07c1f07c1f08p-8, -0x1.5995995995996p-6,
               0x1.5555555555555p-4, -0x1.c5e5e5e5e5e5ep-2);
  return shift + (log(x) - (0.5 * u + series));
}

namespace detail {

/// Hurwitz zeta(s, a) = sum over k >= 0 of (a + k)^-s for integer s >= 2, a > 0, times `factor`:
/// direct terms up to a + k >= 10 + s / 2, then Euler-Maclaurin. `factor` goes in early, so that n!
/// a^-s does not overflow where the product is finite.
TESSERA_HD_CALLED double zeta_times(int s, double a, double factor) {
  const double enough = 10 + 0.5 * s;
  double sum = 0, b = a;
  double first[64];
  int count = 0;
  auto times_power = [&](double t, int power) {
    // factor t^-power with the square of t^-(power/2), which under- and overflows later
    const double half = pow_int(t, -(power / 2));
    const double rest = power % 2 != 0 ? half / t : half;
    return (factor * half) * rest;
  };
  auto term = [&](double t) { return times_power(t, s); };
  // the integral alone counts, and would be lost where a^-s underflows
  if (a > 0x1p60) return times_power(a, s - 1) / (s - 1);
  while (b < enough && count < 64) {
    first[count++] = term(b);
    b = a + count;
  }
  while (b < enough) {
    sum += term(b);
    b += 1;
  }
  // integral, half term, corrections B_2j s (s+1) ... (s+2j-2) / (2j)! b^-(s+2j-1)
  const double last = term(b);
  double tail = last * b / (s - 1) + 0.5 * last;
  const double coefficients[10] = {
      0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
      0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42,
      0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53};
  double power = last * (s / b), correction = 0;
  for (int j = 0; j < 10; ++j) {
    correction += coefficients[j] * power;
    power *= ((s + 2 * j + 1) / b) * ((s + 2 * j + 2) / b);
  }
  sum += tail + correction;
  for (int i = count - 1; i >= 0; --i) sum += first[i];  // small to large
  return sum;
}

}  // namespace detail

/// The n-th derivative of digamma, 0 <= n <= 170 (NaN otherwise): (-1)^(n+1) n! sum 1 / (x +
/// k)^(n+1). Infinite at 0, -1, ... for odd n, NaN there for even n.
TESSERA_HD inline double polygamma(int n, double x) {
  if (n == 0) return digamma(x);
  if (n < 0 || n > 170 || !(x == x)) return kNaN<double>;
  const int s = n + 1;
  double factor = 1;
  for (int i = 2; i <= n; ++i) factor *= i;
  const bool odd_s = s % 2 != 0;
  const double sign = odd_s ? -1 : 1;
  if (x > 0) return x < kInfinity<double> ? sign * detail::zeta_times(s, x, factor) : sign * 0.0;
  const double a = -x;
  const double whole = detail::floor(a);
  if (a == whole) return odd_s ? kNaN<double> : kInfinity<double>;
  // the terms below zero are -(f + j), f = a - whole, f + j <= a; the others start at 1 - f
  const double f = a - whole;
  const double below = detail::zeta_times(s, f, factor) - detail::zeta_times(s, a + 1, factor);
  const double above = detail::zeta_times(s, 1 - f, factor);
  return sign * (above + sign * below);
}
TESSERA_HD inline double trigamma(double x) { return polygamma(1, x); }

TESSERA_HD inline float lgamma(float x) { return static_cast<float>(lgamma(double(x))); }
TESSERA_HD inline float digamma(float x) { return static_cast<float>(digamma(double(x))); }
TESSERA_HD inline float polygamma(int n, float x) {
  return static_cast<float>(polygamma(n, double(x)));
}
TESSERA_HD inline float trigamma(float x) { return static_cast<float>(trigamma(double(x))); }

}  // namespace tessera::kernels::vm
