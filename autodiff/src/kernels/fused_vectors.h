// SPDX-License-Identifier: Apache-2.0
//
// What the ordered sums of gemm_blocked.cpp and gemv_blocked.cpp are made of: vectors of `width`
// bytes in one body for all widths. The functions are inlined into ones compiled for AVX2 or
// AVX-512.
#pragma once
#include <cmath>
#include <cstddef>
#include <utility>

namespace tessera::kernels {

template <int width, class T>
struct Vector {
  using type [[gnu::vector_size(width), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};

/// sum += x y with one rounding: __builtin_fma has no vectors.
template <class T, class V>
[[gnu::always_inline]] inline void add_product(V& sum, V x, V y) {
#ifdef __clang__  // of the fuzz preset: clang 14 finds no registers for the instruction written out
  for (std::size_t i = 0; i < sizeof(V) / sizeof(T); ++i) sum[i] = std::fma(x[i], y[i], sum[i]);
#else
  if constexpr (sizeof(T) == 8)
    asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  else
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
#endif
}

/// x <- its transposed, in log2(lanes) exchanges of the off-diagonal halves of ever larger squares.
template <class T, int width, std::size_t s, std::size_t... j, class V>
[[gnu::always_inline]] inline void exchange(V* x, std::index_sequence<j...>) {
  constexpr std::size_t lanes = width / sizeof(T);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < lanes; ++i) {
    if (i & s) continue;
    const V u = x[i], v = x[i + s];
    x[i] = __builtin_shufflevector(u, v, static_cast<int>(j & s ? lanes + j - s : j)...);
    x[i + s] = __builtin_shufflevector(u, v, static_cast<int>(j & s ? lanes + j : j + s)...);
  }
  if constexpr (2 * s < lanes) exchange<T, width, 2 * s>(x, std::index_sequence<j...>{});
}

}  // namespace tessera::kernels
