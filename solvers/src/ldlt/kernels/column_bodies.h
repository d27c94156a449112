// SPDX-License-Identifier: Apache-2.0
//
// One right-hand side, which has no other to fill the lanes of vectors: they go along L instead.
// Down its columns where y is taken out of the rows below, across them, turned in registers, where
// x is put in. Each sum has the terms, order and roundings that it has in front_bodies.h, so that a
// column has the bits that it has among others. Of a complex sum
//
//   sum_l L_l x_l = sum L_l Re x_l + i sum L_l Im x_l
//
// both parts are kept until the end, there as here.
#pragma once
#include "ldlt/kernels/front_bodies.h"

namespace tessera::solvers::ldlt_detail {
namespace {

template <class R>
[[gnu::always_inline]] inline R fused(R x, R y, R sum) {
#if defined(__FMA__)
  return std::fma(x, y, sum);
#else
  return sum + x * y;
#endif
}
/// sum - x z, as `take` does it.
template <class T>
[[gnu::always_inline]] inline T less(T sum, T x, T z) {
  if constexpr (kIsComplex<T>) {
    const auto re = fused(x.real(), -z.real(), sum.real()),
               im = fused(x.imag(), -z.real(), sum.imag());
    return {fused(-x.imag(), -z.imag(), re), fused(x.real(), -z.imag(), im)};
  } else {
    return fused(x, -z, sum);
  }
}
/// x z, as `scaled_by` does it.
template <class T>
[[gnu::always_inline]] inline T scaled(T x, T z) {
  if constexpr (kIsComplex<T>)
    return {fused(-x.imag(), z.imag(), x.real() * z.real()),
            fused(x.real(), z.imag(), x.imag() * z.real())};
  else
    return x * z;
}

/// The numbers of both that stand at even, or at odd, places if they are counted by h.
template <int h, bool odd, class V, int... i>
[[gnu::always_inline]] inline V every_other(V a, V b, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  return __builtin_shufflevector(a, b,
                                 ((i / h) % 2 == 0 ? i + (odd ? h : 0) : n + i - (odd ? 0 : h))...);
}
/// Rows become columns, of numbers of so many parts.
template <int n, int parts, class V>
[[gnu::always_inline]] inline void transpose(V (&v)[n]) {
  constexpr auto all = std::make_integer_sequence<int, n * parts>{};
  const auto stage = [&](auto half) __attribute__((always_inline)) {
    constexpr int h = decltype(half)::value;
    if constexpr (h < n)
      each<n>(TESSERA_EACH(k) {
        constexpr int at = decltype(k)::value;
        if constexpr ((at & h) == 0) {
          const V a = v[at], b = v[at + h];
          v[at] = every_other<h * parts, false>(a, b, all);
          v[at + h] = every_other<h * parts, true>(a, b, all);
        }
      });
  };
  stage(std::integral_constant<int, 1>{});
  stage(std::integral_constant<int, 2>{});
  stage(std::integral_constant<int, 4>{});
  static_assert(n <= 8);
}

template <int width, class T>
struct ColumnBodies {
  using R = RealOf<T>;
  static constexpr bool complex = kIsComplex<T>;
  static constexpr int columns = kColumns<T>, parts = complex ? 2 : 1;
  static constexpr int bytes = std::min(width, columns* static_cast<int>(sizeof(T)));
  static constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  static constexpr int vectors = columns / lanes;  ///< of the columns of a block
  using V = typename VectorOf<bytes, R>::type;
  using U = typename VectorOf<bytes, R>::in_memory;

  [[gnu::always_inline]] static V load(const T* p) { return *reinterpret_cast<const U*>(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { *reinterpret_cast<U*>(p) = v; }

  /// sum L Re x and sum L Im x of a vector.
  struct Sums {
    V by_re, by_im;
    [[gnu::always_inline]] void add(V l, T x) {
      add_product<R>(by_re, l, std::real(x) - V{});
      if constexpr (complex) add_product<R>(by_im, l, std::imag(x) - V{});
    }
  };
  /// The same in memory.
  struct SumsAt {
    T *by_re, *by_im;
    [[gnu::always_inline]] Sums load(Index k) const {
      return {ColumnBodies::load(by_re + k), complex ? ColumnBodies::load(by_im + k) : V{}};
    }
    [[gnu::always_inline]] void store(Index k, const Sums& s) const {
      ColumnBodies::store(by_re + k, s.by_re);
      if constexpr (complex) ColumnBodies::store(by_im + k, s.by_im);
    }
    [[gnu::always_inline]] T operator[](Index k) const {
      if constexpr (complex)
        return {by_re[k].real() - by_im[k].imag(), by_im[k].real() + by_re[k].imag()};
      else
        return by_re[k];
    }
  };

  static void eliminate(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, T* desk) {
    const Index stride = p.stride(), n = p.pivots;
    std::fill_n(desk, parts * stride, T(0));
    const SumsAt sums{desk, desk + stride};
    for (Index j0 = 0; j0 < n; j0 += columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, n - j0));
      const T* const l = p.data + j0 * stride;
      T y[columns];
      for (int j = 0; j < valid; ++j) {
        y[j] = x[j0 + j] - sums[j0 + j];
        for (int k = 0; k < j; ++k) y[j] = less(y[j], y[k], l[k * stride + j0 + j]);
        x[j0 + j] = y[j];
      }
      if (valid == columns)
        for (Index r = j0 + columns; r < stride; r += lanes) {
          Sums s = sums.load(r);
          each<columns>(TESSERA_EACH(k) { s.add(load(l + k * stride + r), y[k]); });
          sums.store(r, s);
        }
      else
        for (Index r = j0 + columns; r < stride; r += lanes) {
          Sums s = sums.load(r);
          for (int k = 0; k < valid; ++k) s.add(load(l + k * stride + r), y[k]);
          sums.store(r, s);
        }
    }
    const Index first = padded<T>(n);
    for (Index i = 0; i < p.below; ++i) all[rows[i]] -= sums[first + i];
  }

  /// Adds `count` rows of L, which begin at `l`, by x to the sums of `blocks` blocks of columns.
  /// Rows up to a whole vector are read, and x there is 0.
  template <int blocks>
  [[gnu::always_inline]] static void across(const T* l, Index stride, int valid, Index count,
                                            const T* x, Sums (&sums)[blocks][vectors]) {
    const T* column[blocks * columns];
    for (int j = 0; j < blocks * columns; ++j) column[j] = l + std::min(j, valid - 1) * stride;
    for (Index r = 0; r < count; r += lanes)
      each<blocks>(TESSERA_EACH(b) {
        each<vectors>(TESSERA_EACH(v) {
          V turned[lanes];
          each<lanes>(
              TESSERA_EACH(k) { turned[k] = load(column[b * columns + v * lanes + k] + r); });
          transpose<lanes, parts>(turned);
          each<lanes>(TESSERA_EACH(k) { sums[b][v].add(turned[k], x[r + k]); });
        });
      });
  }

  static void substitute(const Panel<T>& p, const T* inverse, T* x, const T* all,
                         const std::int32_t* rows, T* desk) {
    const Index stride = p.stride(), n = p.pivots, whole = padded<T>(n), below = padded<T>(p.below);
    T* const of_below = desk;
    T* const of_pivots = of_below + below;
    const SumsAt sums{of_pivots + whole, of_pivots + 2 * whole};
    for (Index i = 0; i < p.below; ++i) of_below[i] = all[rows[i]];
    std::fill(of_below + p.below, of_below + below, T(0));
    std::fill(of_pivots + n, of_pivots + whole, T(0));

    constexpr int together = bytes == 64 ? 4 : 2;
    const auto rows_below = [&](auto blocks, Index j0) __attribute__((always_inline)) {
      constexpr int m = decltype(blocks)::value;
      Sums s[m][vectors] = {};
      const int valid = static_cast<int>(std::min<Index>(m * columns, n - j0));
      across<m>(p.lower() + j0 * stride, stride, valid, p.below, of_below, s);
      each<m>(TESSERA_EACH(b) {
        each<vectors>(TESSERA_EACH(v) { sums.store(j0 + b * columns + v * lanes, s[b][v]); });
      });
    };
    Index j0 = 0;
    for (; j0 + together * columns <= n; j0 += together * columns)
      rows_below(std::integral_constant<int, together>{}, j0);
    for (; j0 < n; j0 += columns) rows_below(std::integral_constant<int, 1>{}, j0);

    for (j0 = (n - 1) / columns * columns; j0 >= 0; j0 -= columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, n - j0));
      const Index after = j0 + columns;
      const T* const l = p.data + j0 * stride;
      if (after < n) {
        Sums s[1][vectors];
        each<vectors>(TESSERA_EACH(v) { s[0][v] = sums.load(j0 + v * lanes); });
        across<1>(l + after, stride, valid, n - after, of_pivots + after, s);
        each<vectors>(TESSERA_EACH(v) { sums.store(j0 + v * lanes, s[0][v]); });
      }
      T* const y = of_pivots + j0;
      for (int j = valid; j-- > 0;) {
        y[j] = scaled(x[j0 + j], inverse[j0 + j]) - sums[j0 + j];
        for (int k = valid; --k > j;) y[j] = less(y[j], y[k], l[j * stride + j0 + k]);
        x[j0 + j] = y[j];
      }
    }
  }
};

template <int width, class T>
FrontKernels<T> front_kernels_of() {
  using B = FrontBodies<width, T>;
  using C = ColumnBodies<width, T>;
  return {&B::factor, &B::left_over, &B::eliminate, &B::substitute, &C::eliminate, &C::substitute};
}

}  // namespace
}  // namespace tessera::solvers::ldlt_detail
