// SPDX-License-Identifier: Apache-2.0
//
// One element of sums, choices, comparisons, logic, steps and complex parts: the bodies that host
// and device run.
#pragma once
#include "body.h"
#include "scalar.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace tessera::kernels::fn {

// ---- complex sums, written out ----
// nvcc drops the compiler's own complex arithmetic, of which std::complex's operators are made,
// without a word: x + y is x on a device. Sums are these; products and quotients are multiply and
// divide.
#define TESSERA_COMPLEX_SUMS(T)                                                                  \
  TESSERA_HD_INLINE T operator+(T x, T y) { return {x.real() + y.real(), x.imag() + y.imag()}; } \
  TESSERA_HD_INLINE T operator-(T x, T y) { return {x.real() - y.real(), x.imag() - y.imag()}; } \
  T operator+(T, T::value_type) = delete;                                                        \
  T operator+(T::value_type, T) = delete;                                                        \
  T operator-(T, T::value_type) = delete;                                                        \
  T operator-(T::value_type, T) = delete;                                                        \
  T operator*(T, T) = delete;                                                                    \
  T operator*(T, T::value_type) = delete;                                                        \
  T operator*(T::value_type, T) = delete;                                                        \
  T operator/(T, T) = delete;                                                                    \
  T operator/(T, T::value_type) = delete;                                                        \
  T operator/(T::value_type, T) = delete;
TESSERA_COMPLEX_SUMS(c64)
TESSERA_COMPLEX_SUMS(c128)
#undef TESSERA_COMPLEX_SUMS

// ---- sums and products; integers wrap ----
template <class T>
TESSERA_HD_INLINE T add(T x, T y) {
  return wrapping(x, y, [](auto a, auto b) { return a + b; });
}
template <class T>
TESSERA_HD_INLINE T sub(T x, T y) {
  return wrapping(x, y, [](auto a, auto b) { return a - b; });
}
template <class T>
TESSERA_HD_INLINE T mul(T x, T y) {
  if constexpr (is_cplx<T>)
    return multiply(x, y);
  else
    return wrapping(x, y, [](auto a, auto b) { return a * b; });
}
template <class T>
TESSERA_HD_INLINE T div(T x, T y) {
  return divide(x, y);
}
template <class T>
TESSERA_HD_INLINE T neg(T x) {
  if constexpr (std::is_integral_v<T>)
    return sub(T(0), x);
  else
    return -x;
}
/// x^n by repeated squaring.
template <class T>
TESSERA_HD_INLINE T pow_int(int n, T x) {
  unsigned m = n < 0 ? -static_cast<unsigned>(n) : static_cast<unsigned>(n);
  T r = T(1), p = x;
  for (; m; m >>= 1) {
    if (m & 1) r = mul(r, p);
    if (m > 1) p = mul(p, p);
  }
  return n < 0 ? divide(T(1), r) : r;
}
/// Remainder with the sign of x; x itself for an integer y = 0.
template <class T>
TESSERA_HD_INLINE T rem(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(x, y);
  else
    return y == T(0)                                          ? x
           : (std::is_signed_v<T> && y == static_cast<T>(-1)) ? T(0)
                                                              : static_cast<T>(x % y);
}

// ---- choices and comparisons ----
template <class T>
TESSERA_HD_INLINE bool is_nan(T x) {
  return x != x;
}
template <class T>
TESSERA_HD_INLINE T maximum(T x, T y) {
  return is_nan(x) ? x : is_nan(y) ? y : x < y ? y : x;
}
template <class T>
TESSERA_HD_INLINE T minimum(T x, T y) {
  return is_nan(x) ? x : is_nan(y) ? y : y < x ? y : x;
}
template <class T>
TESSERA_HD_INLINE T select(bool c, T x, T y) {
  return c ? x : y;
}
template <class T>
TESSERA_HD_INLINE bool equal(T x, T y) {
  return x == y;
}
template <class T>
TESSERA_HD_INLINE bool not_equal(T x, T y) {
  return x != y;
}
template <class T>
TESSERA_HD_INLINE bool less(T x, T y) {
  return x < y;
}
template <class T>
TESSERA_HD_INLINE bool less_equal(T x, T y) {
  return x <= y;
}

// ---- bits; shifts beyond the width give what an endless shift would ----
template <class T>
TESSERA_HD_INLINE T bit_and(T x, T y) {
  return static_cast<T>(x & y);
}
template <class T>
TESSERA_HD_INLINE T bit_or(T x, T y) {
  return static_cast<T>(x | y);
}
template <class T>
TESSERA_HD_INLINE T bit_xor(T x, T y) {
  return static_cast<T>(x ^ y);
}
template <class T>
TESSERA_HD_INLINE T bit_not(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return !x;
  else
    return static_cast<T>(~x);
}
template <class T>
TESSERA_HD_INLINE T shift_left(T x, T y) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(y) >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<U>(x) << y);
}
template <class T>
TESSERA_HD_INLINE T shift_right(T x, T y) {
  using U = std::make_unsigned_t<T>;
  T beyond = T(0);
  if constexpr (std::is_signed_v<T>) beyond = x < 0 ? T(-1) : T(0);
  return static_cast<U>(y) >= 8 * sizeof(T) ? beyond : static_cast<T>(x >> y);
}

// ---- steps ----
template <class T>
TESSERA_HD_INLINE T floor(T x) {
  return std::floor(x);
}
template <class T>
TESSERA_HD_INLINE T ceil(T x) {
  return std::ceil(x);
}
template <class T>
TESSERA_HD_INLINE T round(T x) {
  return std::nearbyint(x);
}
template <class T>
TESSERA_HD_INLINE T sign(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return x != 0;
  else
    return x != x ? x : static_cast<T>((x > T(0)) - (x < T(0)));
}
template <class T>
TESSERA_HD_INLINE bool is_finite(T x) {
  if constexpr (is_cplx<T>)
    return is_finite(x.real()) && is_finite(x.imag());
  else
    return x - x == T(0);
}

// ---- complex numbers and conversions ----
template <class T>
TESSERA_HD_INLINE auto real(T z) {
  return z.real();
}
template <class T>
TESSERA_HD_INLINE auto imag(T z) {
  return z.imag();
}
template <class T>
TESSERA_HD_INLINE T conj(T z) {
  return {z.real(), -z.imag()};
}
template <class T>
TESSERA_HD_INLINE std::complex<T> complex(T x, T y) {
  return {x, y};
}
template <class T>
TESSERA_HD_INLINE T same(T x) {
  return x;
}
/// Complex to real keeps the real part, anything to bool asks "not zero?", a float to an integer
/// saturates (the plain conversion is undefined outside the range) and makes 0 of NaN.
template <class To, class From>
TESSERA_HD_INLINE To convert(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else if constexpr (is_cplx<To>) {
    using R = typename To::value_type;
    if constexpr (is_cplx<From>)
      return To(static_cast<R>(x.real()), static_cast<R>(x.imag()));
    else
      return To(static_cast<R>(x), R(0));
  } else if constexpr (is_cplx<From>)
    return convert<To>(x.real());
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr auto lo = std::numeric_limits<To>::min(), hi = std::numeric_limits<To>::max();
    return x != x                       ? To(0)
           : x <= static_cast<From>(lo) ? lo
           : x >= static_cast<From>(hi) ? hi
                                        : static_cast<To>(x);
  } else
    return static_cast<To>(x);
}

}  // namespace tessera::kernels::fn

/// The rows of what stands here: kind, scalar, type, name, function, types (body.h).
#define TESSERA_ARITHMETIC_ROWS(ROW)                                         \
  ROW(binary, scalar, Add, "add", add, kNumber)                              \
  ROW(binary, scalar, Sub, "sub", sub, kNumber)                              \
  ROW(binary, scalar, Mul, "mul", mul, kNumber)                              \
  ROW(binary, scalar, Div, "div", div, kNumber)                              \
  ROW(unary, scalar, Neg, "neg", neg, kNumber)                               \
  ROW(with_int, kernel, PowInt, "pow_int", pow_int, kNumber)                 \
  ROW(binary, kernel, Rem, "rem", rem, kReal | kInteger)                     \
  ROW(binary, scalar, Maximum, "maximum", maximum, kReal | kInteger)         \
  ROW(binary, scalar, Minimum, "minimum", minimum, kReal | kInteger)         \
  ROW(select, scalar, Select, "select", select, kAny)                        \
  ROW(binary, scalar, Equal, "equal", equal, kAny)                           \
  ROW(binary, kernel, NotEqual, "not_equal", not_equal, kAny)                \
  ROW(binary, scalar, Less, "less", less, kReal | kInteger)                  \
  ROW(binary, scalar, LessEqual, "less_equal", less_equal, kReal | kInteger) \
  ROW(binary, kernel, And, "and", bit_and, kBool | kInteger)                 \
  ROW(binary, kernel, Or, "or", bit_or, kBool | kInteger)                    \
  ROW(binary, kernel, Xor, "xor", bit_xor, kBool | kInteger)                 \
  ROW(unary, kernel, Not, "not", bit_not, kBool | kInteger)                  \
  ROW(binary, kernel, ShiftLeft, "shift_left", shift_left, kInteger)         \
  ROW(binary, kernel, ShiftRight, "shift_right", shift_right, kInteger)      \
  ROW(unary, kernel, Floor, "floor", floor, kReal)                           \
  ROW(unary, kernel, Ceil, "ceil", ceil, kReal)                              \
  ROW(unary, kernel, Round, "round", round, kReal)                           \
  ROW(unary, kernel, SignReal, "sign", sign, kReal | kInteger)               \
  ROW(unary, kernel, IsFinite, "is_finite", is_finite, kInexact)             \
  ROW(unary, kernel, Real, "real", real, kComplex)                           \
  ROW(unary, kernel, Imag, "imag", imag, kComplex)                           \
  ROW(unary, kernel, Conj, "conj", conj, kComplex)                           \
  ROW(binary, kernel, Complex, "complex", complex, kReal)                    \
  ROW(unary, kernel, StopGradient, "stop_gradient", same, kAny)              \
  ROW(unary, kernel, Copy, "copy", same, kAny)                               \
  ROW(cast, kernel, Cast, "cast", convert, kAny)

namespace tessera::kernels::body {
TESSERA_ARITHMETIC_ROWS(TESSERA_BODY)
}  // namespace tessera::kernels::body
