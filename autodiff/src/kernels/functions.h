// SPDX-License-Identifier: Apache-2.0
//
// Scalar functions by element type: the vectorising bodies of vmath.h under one name for real and
// complex numbers.
#pragma once
#include "arithmetic.h"
#include "scalar.h"
#include "vmath.h"

#include <cmath>

namespace tessera::kernels::fn {

template <class T>
TESSERA_HD_INLINE auto to_vm(std::complex<T> z) {
  return vm::cplx<T>{z.real(), z.imag()};
}
template <class T>
TESSERA_HD_INLINE std::complex<T> from_vm(vm::cplx<T> z) {
  return {z.re, z.im};
}

#define TESSERA_BOTH(NAME)                \
  template <class T>                      \
  TESSERA_HD_INLINE T NAME(T x) {         \
    if constexpr (is_cplx<T>)             \
      return from_vm(vm::NAME(to_vm(x))); \
    else                                  \
      return vm::NAME(x);                 \
  }
TESSERA_BOTH(sqrt)
TESSERA_BOTH(log)
TESSERA_BOTH(asin)
TESSERA_BOTH(acos)
TESSERA_BOTH(atan)
TESSERA_BOTH(asinh)
TESSERA_BOTH(acosh)
TESSERA_BOTH(atanh)
TESSERA_BOTH(expm1)
#undef TESSERA_BOTH

/// Whether the argument of a sine inside the function is small enough for the vectorising
/// reduction.
template <class T>
TESSERA_HD_INLINE bool is_near(T x) {
  if constexpr (is_cplx<T>)
    return vm::abs(x.real()) <= vm::kTrigLimit<double> &&
           vm::abs(x.imag()) <= vm::kTrigLimit<double>;
  else
    return vm::abs(x) <= vm::kTrigLimit<T>;
}
// Functions with a sine inside: `near` holds where is_near and vectorises; both give the same bits
// there.
#define TESSERA_PERIODIC(NAME, REAL_NEAR)       \
  template <bool near = false, class T>         \
  TESSERA_HD_INLINE T NAME(T x) {               \
    if constexpr (is_cplx<T>)                   \
      return from_vm(vm::NAME<near>(to_vm(x))); \
    else if constexpr (near)                    \
      return vm::REAL_NEAR(x);                  \
    else                                        \
      return vm::NAME(x);                       \
  }
TESSERA_PERIODIC(sin, sin_near)
TESSERA_PERIODIC(cos, cos_near)
TESSERA_PERIODIC(tan, tan_near)
TESSERA_PERIODIC(exp, exp)
TESSERA_PERIODIC(sinh, sinh)
TESSERA_PERIODIC(cosh, cosh)
TESSERA_PERIODIC(tanh, tanh)
#undef TESSERA_PERIODIC

#define TESSERA_REAL(NAME)        \
  template <class T>              \
  TESSERA_HD_INLINE T NAME(T x) { \
    return vm::NAME(x);           \
  }
TESSERA_REAL(cbrt)
TESSERA_REAL(softplus)
TESSERA_REAL(erf)
TESSERA_REAL(erfc)
TESSERA_REAL(erfinv)
TESSERA_REAL(lgamma)
TESSERA_REAL(digamma)
#undef TESSERA_REAL

template <class T>
TESSERA_HD_INLINE T rsqrt(T x) {
  if constexpr (is_cplx<T>)
    return divide(T(1), fn::sqrt(x));  // unqualified it would be std::sqrt
  else
    return vm::rsqrt(x);
}
/// log(1 + z): its real part from |1 + z|^2 - 1 = a (2 + a) + b^2, which does not cancel for small
/// z; near -1, where this does, and far off, where it overflows, from 1 + z itself.
template <class T>
TESSERA_HD_INLINE T log1p(T x) {
  if constexpr (is_cplx<T>) {
    using R = typename T::value_type;
    const R a = x.real(), b = x.imag(), s = a * (2 + a) + b * b;
    if (s < R(-0.5) || s > R(1e30)) return fn::log(T(1 + a, b));
    return {vm::log1p(s) / 2, vm::atan2(b, 1 + a)};
  } else
    return vm::log1p(x);
}
/// 1 / cosh^2 z, beyond |Re z| = 1 as 4 e / (1 + e)^2 with e = e^(-2 z), which does not overflow.
template <class T>
TESSERA_HD_INLINE T sech2(T x) {
  if constexpr (is_cplx<T>) {
    const T z = x.real() < 0 ? -x : x;
    const bool far = z.real() > 1;
    const T e = fn::exp(T(-2 * z.real(), -2 * z.imag())), d = far ? T(1) + e : fn::cosh(z);
    return divide(far ? T(4 * e.real(), 4 * e.imag()) : T(1), multiply(d, d));
  } else
    return vm::sech2(x);
}
/// 1 / (1 + e^-z); left of 0 as e^z / (1 + e^z), which does not overflow.
template <class T>
TESSERA_HD_INLINE T logistic(T x) {
  if constexpr (is_cplx<T>) {
    const bool left = x.real() < 0;
    const T e = fn::exp(left ? x : -x);
    return divide(left ? e : T(1), T(1) + e);
  } else
    return vm::logistic(x);
}
template <class T>
TESSERA_HD_INLINE T abs(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < T(0) ? static_cast<T>(T(0) - x) : x == T(0) ? T(0) : x;
}
template <class T>
TESSERA_HD_INLINE T polygamma(int n, T x) {
  return vm::polygamma(n, x);
}
template <class T>
TESSERA_HD_INLINE T pow(T x, T y) {
  if constexpr (is_cplx<T>)
    return from_vm(vm::pow(to_vm(x), to_vm(y)));
  else
    return vm::pow(x, y);
}
/// Orders in x and in y, the lesser of which pow_derivative takes up to here.
inline constexpr int kPowOrders = 63;
/// d^i/dx^i d^j/dy^j x^y = sum over l of (j over l) [d^l/dy^l (y (y-1) ... (y-i+1))] x^(y-i)
/// log(x)^(j-l). A term whose bracket is 0 is 0 whatever the power of x says; powers of x beat
/// logarithms; 0^0 does not move with its exponent.
template <class T>
TESSERA_HD_INLINE T pow_derivative(int i, int j, T x, T y) {
  const int top = i < j ? i : j;
  T c[kPowOrders + 1];  // of s^l in (y+s) (y+s-1) ... (y+s-i+1), which is the bracket over l!
  c[0] = T(1);
  for (int l = 1; l <= top; ++l) c[l] = T(0);
  for (int a = 0; a < i; ++a) {
    const T factor = y - T(static_cast<float>(a));
    for (int l = top; l > 0; --l) c[l] = mul(c[l], factor) + c[l - 1];
    c[0] = mul(c[0], factor);
  }
  const T exponent = y - T(static_cast<float>(i));
  if (j == 0)
    return c[0] == T(0) ? T(0)
                        : mul(c[0], fn::pow(x, exponent));  // unqualified it would be std::pow
  double above;
  if constexpr (is_cplx<T>)
    above = exponent.real();
  else
    above = exponent;
  if (x == T(0) && (above > 0 || (i == 0 && y == T(0)))) return T(0);
  const T logarithm = fn::log(x);
  T sum = T(0), powers = T(1);  // from the lowest power of the logarithm on
  bool none = true;
  for (int l = j; l >= 0; --l) {
    if (l <= top && c[l] != T(0)) {
      double ways = 1;  // j! / (j - l)!
      for (int a = 0; a < l; ++a) ways *= j - a;
      sum = sum + mul(T(ways), mul(c[l], powers));
      none = false;
    }
    powers = mul(powers, logarithm);
  }
  return none ? T(0) : mul(sum, fn::pow(x, exponent));
}
template <class T>
TESSERA_HD_INLINE T atan2(T y, T x) {
  return vm::atan2(y, x);
}
/// sqrt(x^2 + y^2) without overflow.
template <class T>
TESSERA_HD_INLINE T hypot(T x, T y) {
  return vm::abs(vm::cplx<T>{x, y});
}
/// x / hypot(x, y) by the smaller ratio of the two; 0 at 0.
template <class T>
TESSERA_HD_INLINE T hypot_derivative(T x, T y) {
  const bool steep = abs(x) < abs(y);
  const T t = (steep ? x : y) / (steep ? y : x == T(0) ? T(1) : x);
  return vm::rsqrt(T(1) + t * t) * (steep ? t * sign(y) : sign(x));
}
template <class T>
TESSERA_HD_INLINE auto abs_complex(T z) {
  return hypot(z.real(), z.imag());
}
/// z / |z|; 0 at 0.
template <class T>
TESSERA_HD_INLINE T sign_complex(T z) {
  const auto size = hypot(z.real(), z.imag());
  return size == 0 ? T(0) : T(z.real() / size, z.imag() / size);
}

}  // namespace tessera::kernels::fn

/// The rows of what stands here: kind, scalar, type, name, function, types (body.h).
#define TESSERA_FUNCTION_ROWS(ROW)                                                    \
  ROW(unary, scalar, Sqrt, "sqrt", sqrt, kInexact)                                    \
  ROW(unary, kernel, Length, "length", sqrt, kReal)                                   \
  ROW(unary, kernel, Rsqrt, "rsqrt", rsqrt, kInexact)                                 \
  ROW(unary, kernel, Cbrt, "cbrt", cbrt, kReal)                                       \
  ROW(complex_periodic, scalar, Exp, "exp", exp, kInexact)                            \
  ROW(unary, kernel, Expm1, "expm1", expm1, kInexact)                                 \
  ROW(unary, scalar, Log, "log", log, kInexact)                                       \
  ROW(unary, kernel, Log1p, "log1p", log1p, kInexact)                                 \
  ROW(periodic, scalar, Sin, "sin", sin, kInexact)                                    \
  ROW(periodic, scalar, Cos, "cos", cos, kInexact)                                    \
  ROW(periodic, kernel, Tan, "tan", tan, kInexact)                                    \
  ROW(unary, kernel, Asin, "asin", asin, kInexact)                                    \
  ROW(unary, kernel, Acos, "acos", acos, kInexact)                                    \
  ROW(unary, kernel, Atan, "atan", atan, kInexact)                                    \
  ROW(complex_periodic, scalar, Sinh, "sinh", sinh, kInexact)                         \
  ROW(complex_periodic, scalar, Cosh, "cosh", cosh, kInexact)                         \
  ROW(complex_periodic, scalar, Tanh, "tanh", tanh, kInexact)                         \
  ROW(unary, scalar, Sech2, "sech2", sech2, kInexact)                                 \
  ROW(unary, kernel, Asinh, "asinh", asinh, kInexact)                                 \
  ROW(unary, kernel, Acosh, "acosh", acosh, kInexact)                                 \
  ROW(unary, kernel, Atanh, "atanh", atanh, kInexact)                                 \
  ROW(unary, kernel, Logistic, "logistic", logistic, kInexact)                        \
  ROW(unary, kernel, Softplus, "softplus", softplus, kReal)                           \
  ROW(unary, kernel, Erf, "erf", erf, kReal)                                          \
  ROW(unary, kernel, Erfc, "erfc", erfc, kReal)                                       \
  ROW(unary, kernel, Erfinv, "erfinv", erfinv, kReal)                                 \
  ROW(unary, kernel, Lgamma, "lgamma", lgamma, kReal)                                 \
  ROW(unary, kernel, Digamma, "digamma", digamma, kReal)                              \
  ROW(with_int, kernel, Polygamma, "polygamma", polygamma, kReal)                     \
  ROW(binary, kernel, Pow, "pow", pow, kInexact)                                      \
  ROW(with_orders, kernel, PowDerivative, "pow_derivative", pow_derivative, kInexact) \
  ROW(binary, kernel, Atan2, "atan2", atan2, kReal)                                   \
  ROW(binary, kernel, Hypot, "hypot", hypot, kReal)                                   \
  ROW(binary, kernel, HypotDerivative, "hypot_derivative", hypot_derivative, kReal)   \
  ROW(unary, kernel, AbsReal, "abs", abs, kReal | kInteger)                           \
  ROW(unary, kernel, AbsComplex, "abs_complex", abs_complex, kComplex)                \
  ROW(unary, kernel, SignComplex, "sign_complex", sign_complex, kComplex)

namespace tessera::kernels::body {
TESSERA_FUNCTION_ROWS(TESSERA_BODY)
}  // namespace tessera::kernels::body
