// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host_device.h"

#include <concepts>
#include <cstdint>
#include <limits>

/// Scalar function bodies that a compiler turns into vector code: what they share.
///
/// Every function is inline, without branches, tables or calls, so that `for (i...) y[i] =
/// vm::exp(x[i])` becomes SIMD code under -O3. Only basic operations and fused multiply-adds are
/// used, each rounded once, and the files are compiled without contraction: a value is therefore
/// the same bits alone, at any position of an array, at any vector width and in any thread.
namespace tessera::kernels::vm {

template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

/// Constants of the format: the unsigned integer of the same size, fraction bits, exponent bias,
/// and `magic` = 1.5 * 2^fraction_bits: adding it rounds to an integer that then stands in the low
/// bits.
template <class T>
struct Format;
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kFraction = 52;
  static constexpr int kBias = 1023;
  static constexpr double kMagic = 0x1.8p52;
};
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23;
  static constexpr int kBias = 127;
  static constexpr float kMagic = 0x1.8p23f;
};
template <class T>
using BitsOf = typename Format<T>::Bits;

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr T kSmallestNormal = std::numeric_limits<T>::min();
template <class T>
inline constexpr BitsOf<T> kSignBit = BitsOf<T>(1) << (8 * sizeof(T) - 1);

template <Real T>
TESSERA_HD_INLINE BitsOf<T> to_bits(T x) {
  return __builtin_bit_cast(BitsOf<T>, x);
}
template <Real T>
TESSERA_HD_INLINE T from_bits(BitsOf<T> u) {
  return __builtin_bit_cast(T, u);
}

TESSERA_HD_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TESSERA_HD_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TESSERA_HD_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
TESSERA_HD_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
TESSERA_HD_INLINE double abs(double x) { return __builtin_fabs(x); }
TESSERA_HD_INLINE float abs(float x) { return __builtin_fabsf(x); }

/// The sign bit alone, to be applied with `with_sign` (works for -0 and NaN too).
template <Real T>
TESSERA_HD_INLINE BitsOf<T> sign_of(T x) {
  return to_bits(x) & kSignBit<T>;
}
/// x with its sign flipped where `sign` has the sign bit set.
template <Real T>
TESSERA_HD_INLINE T with_sign(T x, BitsOf<T> sign) {
  return from_bits<T>(to_bits(x) ^ sign);
}

/// c0 + c2 z + c4 z^2 + ... : every second coefficient by Horner's rule in fused steps.
template <Real T>
TESSERA_HD_INLINE T poly_even(T, T c0) {
  return c0;
}
template <Real T>
TESSERA_HD_INLINE T poly_even(T, T c0, T) {
  return c0;
}
template <Real T, class... More>
TESSERA_HD_INLINE T poly_even(T z, T c0, T, T c2, More... more) {
  return fma(poly_even(z, c2, T(more)...), z, c0);
}
/// c0 + c1 x + c2 x^2 + ... as even and odd part, which halves the chain of dependent steps.
template <Real T, class... More>
TESSERA_HD_INLINE T poly(T x, T c0, T c1, More... more) {
  const T z = x * x;
  return fma(poly_even(z, c1, T(more)...), x, poly_even(z, c0, c1, T(more)...));
}

/// 2^n for an integer-valued n with a normal result.
template <Real T>
TESSERA_HD_INLINE T pow2(T n) {
  using F = Format<T>;
  return from_bits<T>(to_bits(n + (F::kMagic + T(F::kBias))) << F::kFraction);
}
/// x 2^n for an integer-valued n of any size that exp can meet; rounds once, also to denormals.
template <Real T>
TESSERA_HD_INLINE T scale(T x, T n) {
  const T half = fma(n, T(0.5), Format<T>::kMagic) - Format<T>::kMagic;
  return (x * pow2(half)) * pow2(n - half);
}

}  // namespace tessera::kernels::vm
