// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on one element, host and device. Complex products and quotients are written out: the standard
// operators branch on NaN in every element.
#pragma once
#include <cmath>
#include <limits>

#include "tessera/autodiff/dtype.h"
#include "tessera/autodiff/forall.h"

namespace tessera::kernels {

template <class T>
inline constexpr bool is_cplx = std::is_same_v<T, c64> || std::is_same_v<T, c128>;

template <class T>
TESSERA_HD inline T multiply(T x, T y) {
  if constexpr (is_cplx<T>)
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else return static_cast<T>(x * y);
}

/// Smith's quotient: no overflow in |y|^2.
template <class T>
TESSERA_HD inline T divide(T x, T y) {
  if constexpr (is_cplx<T>) {
    using R = typename T::value_type;
    const R a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
    const bool tall = (c < 0 ? -c : c) < (d < 0 ? -d : d);
    const R big = tall ? d : c, small = tall ? c : d;
    const R r = small / big, den = big + small * r;
    const R re = tall ? a * r + b : a + b * r, im = tall ? b * r - a : b - a * r;
    return {re / den, im / den};
  } else if constexpr (std::is_floating_point_v<T>) return x / y;
  else return y == T(0) ? T(0) : (std::is_signed_v<T> && y == T(-1)) ? static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(x)) : static_cast<T>(x / y);
}

/// Wrapping sum, difference and product of integers; plain ones of the rest.
template <class T, class F>
TESSERA_HD inline T wrapping(T x, T y, F f) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(x), static_cast<U>(y)));
  } else return static_cast<T>(f(x, y));
}

}  // namespace tessera::kernels
