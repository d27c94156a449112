// SPDX-License-Identifier: Apache-2.0
//
// Scalar functions by element type: our vectorising bodies (vmath.h) for real numbers.
#pragma once
#include <cmath>

#include "scalar.h"
#include "vmath.h"

namespace tessera::kernels::fn {

#define TESSERA_BOTH(NAME)                                  \
  template <class T>                                        \
  TESSERA_HD inline T NAME(T x) {                           \
    if constexpr (is_cplx<T>) return std::NAME(x);          \
    else return vm::NAME(x);                                \
  }
TESSERA_BOTH(exp)
TESSERA_BOTH(log)
TESSERA_BOTH(sin)
TESSERA_BOTH(cos)
TESSERA_BOTH(tan)
TESSERA_BOTH(sinh)
TESSERA_BOTH(cosh)
TESSERA_BOTH(tanh)
#undef TESSERA_BOTH
#define TESSERA_STD(NAME) \
  template <class T>      \
  inline T NAME(T x) { return std::NAME(x); }
TESSERA_STD(sqrt)
TESSERA_STD(asin)
TESSERA_STD(acos)
TESSERA_STD(atan)
TESSERA_STD(asinh)
TESSERA_STD(acosh)
TESSERA_STD(atanh)
TESSERA_STD(cbrt)
TESSERA_STD(erf)
TESSERA_STD(erfc)
#undef TESSERA_STD

template <class T>
TESSERA_HD inline T rsqrt(T x) { return divide(T(1), sqrt(x)); }
template <class T>
TESSERA_HD inline T expm1(T x) {
  if constexpr (is_cplx<T>) {
    using R = typename T::value_type;
    const R s = std::sin(x.imag() / 2), e = vm::expm1(x.real());
    return {e * std::cos(x.imag()) - 2 * s * s, std::exp(x.real()) * std::sin(x.imag())};
  } else return vm::expm1(x);
}
template <class T>
TESSERA_HD inline T log1p(T x) {
  if constexpr (is_cplx<T>) {
    using R = typename T::value_type;
    const R a = x.real(), b = x.imag();
    return {vm::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
  } else return vm::log1p(x);
}
template <class T>
TESSERA_HD inline T logistic(T x) {
  if constexpr (is_cplx<T>) return divide(T(1), T(1) + std::exp(-x));
  else return vm::logistic(x);
}
template <class T>
TESSERA_HD inline T softplus(T x) { return vm::softplus(x); }
template <class T>
TESSERA_HD inline T abs(T x) { return x < T(0) ? static_cast<T>(T(0) - x) : x == T(0) ? T(0) : x; }
template <class T>
TESSERA_HD inline T pow(T x, T y) { return std::pow(x, y); }
template <class T>
TESSERA_HD inline T atan2(T y, T x) { return std::atan2(y, x); }
template <class T>
TESSERA_HD inline T hypot(T x, T y) { return std::hypot(x, y); }
template <class T>
inline T lgamma(T x) {
  int sign;
  if constexpr (std::is_same_v<T, float>) return ::lgammaf_r(x, &sign);
  else return ::lgamma_r(x, &sign);
}

}  // namespace tessera::kernels::fn
// FIXME-special
namespace tessera::kernels::fn {
template <class T> inline T erfinv(T x) { return x; }
template <class T> inline T digamma(T x) { return x; }
template <class T> inline T polygamma(int, T x) { return x; }
}
