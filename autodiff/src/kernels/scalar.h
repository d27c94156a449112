// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on one element, host and device. Complex products and quotients are written out: the
// standard operators branch on NaN in every element.
#pragma once
#include "host_device.h"
#include "tessera/autodiff/dtype.h"
#include "tessera/autodiff/forall.h"

#include <cmath>
#include <limits>

namespace tessera::kernels {

template <class T>
inline constexpr bool is_cplx = std::is_same_v<T, c64> || std::is_same_v<T, c128>;

/// A product as it is rounded, before a sum takes it: in vector code of (a c - b d, a d + b c), and
/// of quotients alike, g++ 12 and later join products and sums (vfmaddsub) whatever
/// -ffp-contract=off says, so that an element's bits would hang on where the vectors end.
template <class R>
TESSERA_HD_INLINE R rounded(R product) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(product);
#else
  return product;
#endif
}

template <class T>
TESSERA_HD_INLINE T multiply(T x, T y) {
  if constexpr (is_cplx<T>)
    return {rounded(x.real() * y.real()) - rounded(x.imag() * y.imag()),
            rounded(x.real() * y.imag()) + rounded(x.imag() * y.real())};
  else
    return static_cast<T>(x * y);
}

/// One element from or to memory. Complex numbers move as two reals, flags come as bytes: loops
/// over std::complex and bool themselves do not vectorise, or badly.
template <class T>
TESSERA_HD_INLINE T load(const T* p) {
  if constexpr (is_cplx<T>) {
    const auto* parts = reinterpret_cast<const typename T::value_type*>(p);
    return T(parts[0], parts[1]);
  } else if constexpr (std::is_same_v<T, bool>)
    return *reinterpret_cast<const unsigned char*>(p) != 0;
  else
    return *p;
}
template <class T>
TESSERA_HD_INLINE void store(T* p, T v) {
  if constexpr (is_cplx<T>) {
    auto* parts = reinterpret_cast<typename T::value_type*>(p);
    parts[0] = v.real(), parts[1] = v.imag();
  } else
    *p = v;
}

/// Smith's quotient: no overflow in |y|^2.
template <class T>
TESSERA_HD_INLINE T divide(T x, T y) {
  if constexpr (is_cplx<T>) {
    using R = typename T::value_type;
    const R a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
    const bool tall = (c < 0 ? -c : c) < (d < 0 ? -d : d);
    const R big = tall ? d : c, small = tall ? c : d;
    const R r = small / big, den = big + small * r, ar = rounded(a * r), br = rounded(b * r);
    const R re = tall ? ar + b : a + br, im = tall ? br - a : b - ar;
    return {re / den, im / den};
  } else if constexpr (std::is_floating_point_v<T>)
    return x / y;
  else
    return y == T(0) ? T(0)
           : (std::is_signed_v<T> && y == T(-1))
               ? static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(x))
               : static_cast<T>(x / y);
}

/// Wrapping sum, difference and product of integers; plain ones of the rest.
template <class T, class F>
TESSERA_HD_INLINE T wrapping(T x, T y, F f) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(x), static_cast<U>(y)));
  } else
    return static_cast<T>(f(x, y));
}

}  // namespace tessera::kernels
