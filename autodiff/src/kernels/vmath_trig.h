// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_basic.h"

#include <cstddef>

// sin, cos, tan.
//
// |x| = n pi/2 + r + lo with |r| <= pi/4. Up to kTrigLimit (2^30; 2^16 for float) the reduction is
// Cody and Waite's with fused steps and pi/2 in three or four parts; above it is Payne and Hanek's
// with 192 bits of 2/pi (Payne & Hanek, SIGNUM Newsletter 18, 1983). Which one serves is decided by
// the element alone: `sin_near` holds below the limit and becomes vector code, `sin` holds
// everywhere, and `map_trig` runs over an array with the bits of `sin` at the speed of `sin_near`.
namespace tessera::kernels::vm {

template <class T>
inline constexpr T kTrigLimit = sizeof(T) == 8 ? T(0x1p30) : T(0x1p16);

namespace detail {

/// Angle reduced to [-pi/4, pi/4]: r + low, and the quadrant in the two lowest bits of n.
template <class T>
struct Angle {
  T r, low;
  BitsOf<T> n;
};

template <class T>
struct TrigConstants;
template <>
struct TrigConstants<double> {
  static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  // 51 bits, so that x - n kA is exact; then 53 and 53
  static constexpr double kA = 0x1.921fb54442d18p+0, kB = 0x1.1a62633145c07p-54;
  static constexpr double kC = -0x1.f1976b7ed8fbcp-110;
};
template <>
struct TrigConstants<float> {
  static constexpr float kTwoOverPi = 0x1.45f306p-1f;
  static constexpr float kA = 0x1.921fbp+0f, kB = 0x1.5110b4p-22f, kC = 0x1.84698ap-48f;
};

/// 0 <= x <= kTrigLimit.
template <Real T>
TESSERA_HD_INLINE Angle<T> reduce_near(T x) {
  using C = TrigConstants<T>;
  const T shifted = fma(x, C::kTwoOverPi, Format<T>::kMagic);
  const T n = shifted - Format<T>::kMagic;
  const T a = fma(-n, C::kA, x);  // exact
  const T b = n * C::kB;
  const T b_low = fma(n, C::kB, -b);
  const T r = a - b;  // with its rounding error (two-sum: either may be the larger)
  const T back = r - a;
  const T r_low = (a - (r - back)) - (b + back);
  return {r, fma(-n, C::kC, r_low - b_low), to_bits(shifted)};
}

TESSERA_HD_INLINE double sin_rest(double z) {
  return poly(z, -0x1.5555555555549p-3, 0x1.111111110f871p-7, -0x1.a01a019c105a4p-13,
              0x1.71de357696e8ap-19, -0x1.ae5e6551268dcp-26, 0x1.5d92bb14f2f4bp-33);
}
TESSERA_HD_INLINE float sin_rest(float z) {
  return poly(z, -0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00f34p-13f, 0x1.6cbefp-19f);
}
TESSERA_HD_INLINE double cos_rest(double z) {
  return poly(z, 0x1.555555555554cp-5, -0x1.6c16c16c15174p-10, 0x1.a01a019cb0bbcp-16,
              -0x1.27e4f8092e138p-22, 0x1.1ee9eb5fa315fp-29, -0x1.8fae52a10fb65p-37);
}
TESSERA_HD_INLINE float cos_rest(float z) {
  return poly(z, 0x1.55554ap-5f, -0x1.6c0c22p-10f, 0x1.99e366p-16f);
}

/// sin and cos on [-pi/4, pi/4]: r + r^3 S(r^2) and 1 - r^2/2 + r^4 C(r^2), with the low part of r.
template <Real T>
TESSERA_HD_INLINE T sin_kernel(T r, T low) {
  const T z = r * r;
  return r + fma(z * r, sin_rest(z), fma(T(-0.5) * z, low, low));
}
template <Real T>
TESSERA_HD_INLINE T cos_kernel(T r, T low) {
  const T z = r * r;
  const T half = T(0.5) * z;
  const T w = 1 - half;
  return w + (((1 - w) - half) + fma(z * z, cos_rest(z), -r * low));
}

/// sin(r + low + n pi/2), apart from the sign of the argument.
template <Real T>
TESSERA_HD_INLINE T sin_of(Angle<T> a) {
  using U = BitsOf<T>;
  const T s = sin_kernel(a.r, a.low), c = cos_kernel(a.r, a.low);
  const T y = (a.n & 1) != 0 ? c : s;
  return with_sign(y, U((a.n & 2) << (8 * sizeof(T) - 2)));
}
template <Real T>
TESSERA_HD_INLINE T tan_of(Angle<T> a) {
  const T s = sin_kernel(a.r, a.low), c = cos_kernel(a.r, a.low);
  const bool odd = (a.n & 1) != 0;
  return (odd ? -c : s) / (odd ? s : c);
}

struct UnsignedWide {
  std::uint64_t high, low;
};
TESSERA_HD inline UnsignedWide multiply_wide(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

/// Payne-Hanek for finite x > 2^22: the product of the 53 bits of x with the 192 bits of 2/pi that
/// decide the value modulo 4; what is left out is below 2^-137.
TESSERA_HD inline Angle<double> reduce_far(double x) {
  // 64 zero bits, then the fraction bits of 2/pi
  constexpr std::uint64_t kTwoOverPi[20] = {
      0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
      0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
      0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  const std::uint64_t bits = to_bits(x);
  const int exponent = static_cast<int>(bits >> 52) - 1075;  // x = m 2^exponent
  const std::uint64_t m = (bits & 0x000fffffffffffffull) | 0x0010000000000000ull;
  const int first = exponent - 2 + 64;  // position of the first bit that matters
  const int word = first / 64, shift = first % 64;
  std::uint64_t w[3];
  for (int i = 0; i < 3; ++i)
    w[i] = shift == 0
               ? kTwoOverPi[word + i]
               : (kTwoOverPi[word + i] << shift) | (kTwoOverPi[word + i + 1] >> (64 - shift));
  // p = m w modulo 2^192, in units of 2^-190 quarter turns
  const UnsignedWide p2 = multiply_wide(m, w[2]);
  const UnsignedWide p1 = multiply_wide(m, w[1]);
  const std::uint64_t middle = p1.low + p2.high;
  const std::uint64_t top = m * w[0] + p1.high + (middle < p1.low ? 1 : 0);
  // nearest quarter turn, and the signed rest as sign and magnitude
  const std::uint64_t n = (top + (1ull << 61)) >> 62;
  std::uint64_t f0 = top << 2 | middle >> 62, f1 = middle << 2 | p2.low >> 62, f2 = p2.low << 2;
  const bool negative = (f0 >> 63) != 0;
  if (negative) {
    f2 = ~f2 + 1;
    f1 = ~f1 + (f2 == 0 ? 1 : 0);
    f0 = ~f0 + (f1 == 0 && f2 == 0 ? 1 : 0);
  }
  double unit = 0x1p-53;  // of the last of the 53 leading bits
  if (f0 == 0) {
    f0 = f1;
    f1 = f2;
    f2 = 0;
    unit *= 0x1p-64;
  }
  while ((f0 >> 63) == 0 && f0 != 0) {
    f0 = f0 << 1 | f1 >> 63;
    f1 = f1 << 1 | f2 >> 63;
    f2 <<= 1;
    unit *= 0.5;
  }
  const double high = static_cast<double>(f0 >> 11) * unit;
  const double low =
      static_cast<double>((f0 << 42 | f1 >> 22) & 0x001fffffffffffffull) * (unit * 0x1p-53);
  // times pi/2 in double-double
  constexpr double kHigh = 0x1.921fb54442d18p+0, kLow = 0x1.1a62633145c07p-54;
  const double r = high * kHigh;
  const double r_low = fma(high, kHigh, -r) + fma(high, kLow, low * kHigh);
  const double sum = r + r_low;
  const double rest = (r - sum) + r_low;
  return {negative ? -sum : sum, negative ? -rest : rest, n};
}

/// Any |x| beyond the limit; infinity and NaN give NaN.
TESSERA_HD inline Angle<double> reduce_any(double x) {
  if (!(x < kInfinity<double>)) return {kNaN<double>, kNaN<double>, 0};
  return x <= kTrigLimit<double> ? reduce_near(x) : reduce_far(x);
}

// The far functions stay out of line: they are rare, long and would keep callers from being
// inlined.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TESSERA_NOINLINE __attribute__((noinline))
#else
#define TESSERA_NOINLINE
#endif
TESSERA_HD TESSERA_NOINLINE inline double sin_far(double x) {
  return with_sign(sin_of(reduce_any(abs(x))), sign_of(x));
}
TESSERA_HD TESSERA_NOINLINE inline double cos_far(double x) {
  Angle<double> a = reduce_any(abs(x));
  a.n += 1;
  return sin_of(a);
}
TESSERA_HD TESSERA_NOINLINE inline double tan_far(double x) {
  return with_sign(tan_of(reduce_any(abs(x))), sign_of(x));
}
#undef TESSERA_NOINLINE
TESSERA_HD_INLINE float sin_far(float x) { return static_cast<float>(sin_far(double(x))); }
TESSERA_HD_INLINE float cos_far(float x) { return static_cast<float>(cos_far(double(x))); }
TESSERA_HD_INLINE float tan_far(float x) { return static_cast<float>(tan_far(double(x))); }

}  // namespace detail

/// sin and cos of one angle. kNear: |x| <= kTrigLimit, and the loop vectorises.
template <class T>
struct SinCos {
  T sin, cos;
};
template <bool kNear>
TESSERA_HD_INLINE SinCos<double> sin_cos(double x) {
  detail::Angle<double> a;
  if constexpr (kNear)
    a = detail::reduce_near(abs(x));
  else
    a = detail::reduce_any(abs(x));
  const double s = with_sign(detail::sin_of(a), sign_of(x));
  a.n += 1;
  return {s, detail::sin_of(a)};
}

/// For |x| <= kTrigLimit; vectorises.
template <Real T>
TESSERA_HD_INLINE T sin_near(T x) {
  return with_sign(detail::sin_of(detail::reduce_near(abs(x))), sign_of(x));
}
template <Real T>
TESSERA_HD_INLINE T cos_near(T x) {
  detail::Angle<T> a = detail::reduce_near(abs(x));
  a.n += 1;
  return detail::sin_of(a);
}
template <Real T>
TESSERA_HD_INLINE T tan_near(T x) {
  return with_sign(detail::tan_of(detail::reduce_near(abs(x))), sign_of(x));
}

/// For any x; NaN for infinities.
template <Real T>
TESSERA_HD_INLINE T sin(T x) {
  return abs(x) <= kTrigLimit<T> ? sin_near(x) : detail::sin_far(x);
}
template <Real T>
TESSERA_HD_INLINE T cos(T x) {
  return abs(x) <= kTrigLimit<T> ? cos_near(x) : detail::cos_far(x);
}
template <Real T>
TESSERA_HD_INLINE T tan(T x) {
  return abs(x) <= kTrigLimit<T> ? tan_near(x) : detail::tan_far(x);
}

struct Sin {
  template <Real T>
  TESSERA_HD_INLINE static T near(T x) {
    return sin_near(x);
  }
  template <Real T>
  TESSERA_HD_INLINE static T any(T x) {
    return sin(x);
  }
};
struct Cos {
  template <Real T>
  TESSERA_HD_INLINE static T near(T x) {
    return cos_near(x);
  }
  template <Real T>
  TESSERA_HD_INLINE static T any(T x) {
    return cos(x);
  }
};
struct Tan {
  template <Real T>
  TESSERA_HD_INLINE static T near(T x) {
    return tan_near(x);
  }
  template <Real T>
  TESSERA_HD_INLINE static T any(T x) {
    return tan(x);
  }
};

/// y[i] = F::any(x[i]), bit for bit, in blocks: a block whose arguments are all below the limit
/// runs the vector loop. x and y may be the same array, but may not overlap otherwise.
template <class F, Real T>
inline void map_trig(const T* x, T* y, std::size_t n) {
  constexpr std::size_t kBlock = 512;
  for (std::size_t start = 0; start < n; start += kBlock) {
    const std::size_t size = n - start < kBlock ? n - start : kBlock;
    const T* from = x + start;
    T* to = y + start;
    int far = 0;
    for (std::size_t i = 0; i < size; ++i) far |= abs(from[i]) <= kTrigLimit<T> ? 0 : 1;
    if (far == 0) {
#pragma GCC ivdep
      for (std::size_t i = 0; i < size; ++i) to[i] = F::near(from[i]);
    } else {
      for (std::size_t i = 0; i < size; ++i) to[i] = F::any(from[i]);
    }
  }
}

}  // namespace tessera::kernels::vm
