// SPDX-License-Identifier: Apache-2.0
//
// All is one loop: a tile of a few vectors by eight numbers that are the same for all lanes,
//
//   sum[v][s] += a_v b_s,
//
// where a complex product by one number z, x z = x Re z + (i x) Im z, takes two of the eight, and i
// turns the sums once at the end. Included once for each width of vectors, by a source that is
// compiled for it: g++ takes vectors apart in what it compiles for less, before it inlines it.
#pragma once
#include "ldlt/kernels/front_kernels.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

namespace tessera::solvers::ldlt_detail {
namespace {

constexpr int kScalars = 8;  ///< of a tile: 4 complex or 8 real columns
template <class T>
constexpr int kColumns = kIsComplex<T> ? kScalars / 2 : kScalars;

template <int width, class R>
struct VectorOf {
  using type [[gnu::vector_size(width), gnu::may_alias]] = R;
  using in_memory [[gnu::vector_size(width), gnu::aligned(alignof(R)), gnu::may_alias]] = R;
};

/// sum += x y with one rounding where the processor has it (__builtin_fma has no vectors).
template <class R, class V>
[[gnu::always_inline]] inline void add_product(V& sum, V x, V y) {
#if defined(__x86_64__) && defined(__FMA__) && !defined(__clang__)
  if constexpr (sizeof(R) == 8)
    asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  else
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
#elif defined(__FMA__)
  for (std::size_t i = 0; i < sizeof(V) / sizeof(R); ++i) sum[i] = std::fma(x[i], y[i], sum[i]);
#else
  sum += x * y;
#endif
}

/// f(0), ..., f(n - 1) of constants: what they index stays in registers, which loops that are
/// unrolled later do not promise.
template <int n, class F>
[[gnu::always_inline]] inline void each(F&& f) {
  [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, k>{}), ...);
  }
  (std::make_integer_sequence<int, n>{});
}
#define TESSERA_EACH(k) [&](auto k) __attribute__((always_inline))

/// i x, of pairs of real and imaginary parts.
template <class R, class V>
[[gnu::always_inline]] inline V turned(V x) {
  constexpr int lanes = sizeof(V) / sizeof(R);
  V out;
  if constexpr (lanes == 16)
    out = __builtin_shufflevector(x, -x, 17, 0, 19, 2, 21, 4, 23, 6, 25, 8, 27, 10, 29, 12, 31, 14);
  else if constexpr (lanes == 8)
    out = __builtin_shufflevector(x, -x, 9, 0, 11, 2, 13, 4, 15, 6);
  else if constexpr (lanes == 4)
    out = __builtin_shufflevector(x, -x, 5, 0, 7, 2);
  else
    out = __builtin_shufflevector(x, -x, 3, 0);
  return out;
}

/// Plain product and quotient: those of std::complex look for infinities.
template <class T>
[[gnu::always_inline]] inline T times(T x, T y) {
  if constexpr (kIsComplex<T>)
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else
    return x * y;
}
template <class T>
T inverse_of(T x) {
  if constexpr (kIsComplex<T>) {
    using R = RealOf<T>;
    // Smith's way: squares of the parts need not be in range.
    const bool wide = std::abs(x.real()) >= std::abs(x.imag());
    const R large = wide ? x.real() : x.imag(), small = wide ? x.imag() : x.real();
    const R ratio = small / large, part = 1 / (large + small * ratio);
    return wide ? T(part, -ratio * part) : T(ratio * part, -part);
  } else {
    return 1 / x;
  }
}

template <int width, class T>
struct FrontBodies {
  using R = RealOf<T>;
  using V = typename VectorOf<width, R>::type;
  using U = typename VectorOf<width, R>::in_memory;
  static constexpr bool complex = kIsComplex<T>;
  static constexpr Index lanes = width / Index{sizeof(T)}, reals = width / Index{sizeof(R)},
                         parts = complex ? 2 : 1;
  static constexpr int columns = kColumns<T>;
  static constexpr int most = 3;  ///< vectors of a tile
  static constexpr int at_once =
      width == 64 ? 8 : 4;  ///< numbers of them: 24 or 12 registers of sums

  [[gnu::always_inline]] static V load(const T* p) { return *reinterpret_cast<const U*>(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { *reinterpret_cast<U*>(p) = v; }

  /// The numbers b of step l: eight that follow each other, steps `stride` apart.
  struct Across {
    const R* at;
    Index stride;
    [[gnu::always_inline]] R operator()(int s) const { return at[s]; }
    [[gnu::always_inline]] void next() { at += stride; }
  };
  /// One element in each of so many columns, which l goes down; the last are columns again where
  /// there are fewer.
  struct Down {
    const R* column[columns];
    Index at = 0;
    Down(const T* first, Index stride, int valid) {
      for (int j = 0; j < columns; ++j)
        column[j] = reinterpret_cast<const R*>(first + std::min(j, valid - 1) * stride);
    }
    [[gnu::always_inline]] R operator()(int s) const {
      return complex ? column[s / 2][at + s % 2] : column[s][at];
    }
    [[gnu::always_inline]] void next() { at += parts; }
  };

  template <int vectors>
  [[gnu::always_inline]] static void clear(V (&sum)[vectors][kScalars]) {
    each<vectors>(TESSERA_EACH(v) { each<kScalars>(TESSERA_EACH(s) { sum[v][s] = V{}; }); });
  }
  /// Adds k terms; `a(l)` is where the vectors of term l lie.
  template <int vectors, class A, class B>
  [[gnu::always_inline]] static void accumulate(Index k, A&& a, const B& b,
                                                V (&sum)[vectors][kScalars]) {
    each<kScalars / at_once>(TESSERA_EACH(part) {
      V mine[vectors][at_once];
      each<vectors>(TESSERA_EACH(v) {
        each<at_once>(TESSERA_EACH(s) { mine[v][s] = sum[v][part * at_once + s]; });
      });
      B numbers = b;
      for (Index l = 0; l < k; ++l) {
        const T* const at = a(l);
        V x[vectors];
        each<vectors>(TESSERA_EACH(v) { x[v] = load(at + v * lanes); });
        each<at_once>(TESSERA_EACH(s) {
          const V y = numbers(part * at_once + s) - V{};
          each<vectors>(TESSERA_EACH(v) { add_product<R>(mine[v][s], x[v], y); });
        });
        numbers.next();
      }
      each<vectors>(TESSERA_EACH(v) {
        each<at_once>(TESSERA_EACH(s) { sum[v][part * at_once + s] = mine[v][s]; });
      });
    });
  }
  template <int vectors, class B>
  [[gnu::always_inline]] static void accumulate(Index k, const T* a, Index stride, const B& b,
                                                V (&sum)[vectors][kScalars]) {
    clear(sum);
    accumulate(
        k, [ a, stride ](Index l) __attribute__((always_inline)) { return a + l * stride; }, b,
        sum);
  }
  /// The sum for column j of a tile.
  [[gnu::always_inline]] static V value(const V (&sum)[kScalars], int j) {
    if constexpr (complex)
      return sum[2 * j] + turned<R>(sum[2 * j + 1]);
    else
      return sum[j];
  }
  /// sum -= x z.
  [[gnu::always_inline]] static void take(V& sum, V x, T z) {
    if constexpr (complex) {
      add_product<R>(sum, x, -z.real() - V{});
      add_product<R>(sum, turned<R>(x), -z.imag() - V{});
    } else {
      add_product<R>(sum, x, -z - V{});
    }
  }
  [[gnu::always_inline]] static V scaled_by(V x, T z) {
    if constexpr (complex) {
      V y = x * (z.real() - V{});
      add_product<R>(y, turned<R>(x), z.imag() - V{});
      return y;
    } else {
      return x * (z - V{});
    }
  }

  /// Calls f<vectors>(first vector) for `count` vectors.
  template <class F>
  [[gnu::always_inline]] static void by_vectors(Index count, F&& f) {
    Index v = 0;
    for (; v + most <= count; v += most) f(std::integral_constant<int, most>{}, v);
    for (; v < count; ++v) f(std::integral_constant<int, 1>{}, v);
  }

  // ---- factors ----

  /// L's block on the diagonal: the triangle of `block`, columns by `rows`, becomes L's, d's
  /// inverses go to `inverse`.
  static void factor_block(T (&block)[columns][columns], int valid, const R* given, T* inverse,
                           const T* grown, Pivots& found) {
    T d[columns];
    for (int j = 0; j < valid; ++j) {
      T* const l = block[j];  // l_ij is l[i], at first w_ij
      for (int k = 0; k < j; ++k)
        for (int i = j; i < valid; ++i) l[i] -= times(times(block[k][i], d[k]), block[k][j]);
      d[j] = l[j];
      if (d[j] == T(0)) found.zero = true;
      inverse[j] = d[j] == T(0) ? T(0) : inverse_of(d[j]);
      if (!std::isfinite(std::real(d[j])) || !std::isfinite(std::imag(d[j])) ||
          !std::isfinite(std::real(inverse[j])) || !std::isfinite(std::imag(inverse[j])))
        found.finite = false;
      for (int i = j + 1; i < valid; ++i) l[i] = times(l[i], inverse[j]);
      double growth = static_cast<double>(std::real(grown[j]));
      if constexpr (complex) growth += static_cast<double>(std::imag(grown[j]));
      for (int k = 0; k < j; ++k)
        growth += static_cast<double>(std::norm(block[k][j])) * static_cast<double>(std::abs(d[k]));
      growth = growth == 0 ? 0 : growth / static_cast<double>(given[j]);
      if (!(growth <= found.growth)) found.growth = growth;
    }
  }

  static Pivots factor(const Panel<T>& p, const R* given, T* inverse, T* scaled, T* grown) {
    Pivots found;
    const Index stride = p.stride(), n = p.pivots;
    constexpr Index block = kBlock<T>;
    for (Index j0 = 0; j0 < n; j0 += columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, n - j0));
      // Rows j of W in the columns before: eight numbers a column.
      const Across b{reinterpret_cast<const R*>(scaled + j0 / block * block * n + j0 % block),
                     block * parts};
      // The block on the diagonal.
      T diagonal[columns][columns];
      {
        constexpr int vectors = columns > lanes ? static_cast<int>(columns / lanes) : 1;
        const Index row = j0 - j0 % lanes;
        for (int v = 0; v < vectors; ++v) {
          V sum[1][kScalars];
          accumulate<1>(j0, p.data + row + v * lanes, stride, b, sum);
          for (int j = 0; j < valid; ++j) {
            T part[lanes];
            store(part, load(p.data + (j0 + j) * stride + row + v * lanes) - value(sum[0], j));
            for (Index i = 0; i < lanes; ++i) {
              const Index at = row + v * lanes + i - j0;
              if (at >= 0 && at < columns) diagonal[j][at] = part[i];
            }
          }
        }
        factor_block(diagonal, valid, given + j0, inverse + j0, grown + j0, found);
      }
      R one_by[columns];  // 1 / |d|
      for (int j = 0; j < columns; ++j) one_by[j] = j < valid ? std::abs(inverse[j0 + j]) : R(0);
      // All rows after it.
      const auto rows = [&](Index first, Index count) __attribute__((always_inline)) {
        by_vectors(
            count, [&](auto vectors, Index v0) __attribute__((always_inline)) {
              constexpr int m = decltype(vectors)::value;
              const Index row = first + v0 * lanes;
              T* const a = p.data + row;
              V sum[m][kScalars];
              accumulate<m>(j0, a, stride, b, sum);
              each<m>(TESSERA_EACH(v) {
                V w[columns];
                each<columns>(TESSERA_EACH(j) {
                  w[j] = load(a + (j0 + std::min<int>(j, valid - 1)) * stride + v * lanes) -
                         value(sum[v], j);
                  if (j < valid) each<j>(TESSERA_EACH(l) { take(w[j], w[l], diagonal[l][j]); });
                });
                const Index at = row + v * lanes;
                V growth = load(grown + at);
                T* const keep = scaled + at / block * block * n + at % block;
                each<columns>(TESSERA_EACH(j) {
                  if (j < valid) {
                    add_product<R>(growth, w[j] * (one_by[j] - V{}), w[j]);
                    store(keep + (j0 + j) * block, w[j]);
                    store(a + (j0 + j) * stride + v * lanes, scaled_by(w[j], inverse[j0 + j]));
                  }
                });
                store(grown + at, growth);
              });
            });
      };
      const Index after = (j0 + columns) / lanes * lanes;
      if (after < stride) rows(after, (stride - after) / lanes);
      for (int j = 0; j < valid; ++j)
        std::copy(diagonal[j] + j + 1, diagonal[j] + valid,
                  p.data + (j0 + j) * stride + j0 + j + 1);
    }
    return found;
  }

  static void left_over(const Panel<T>& p, const T* scaled, T* c, Index begin, Index end) {
    const Index stride = p.stride(), out = padded<T>(p.below), first = padded<T>(p.pivots);
    constexpr Index block = kBlock<T>;
    for (Index j0 = begin; j0 < end; j0 += columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, end - j0));
      const Index at = first + j0;
      const Across b{
          reinterpret_cast<const R*>(scaled + at / block * block * p.pivots + at % block),
          block * parts};
      const Index row0 = j0 / lanes * lanes;
      by_vectors((out - row0) / lanes, [&](auto vectors, Index v0) __attribute__((always_inline)) {
        constexpr int m = decltype(vectors)::value;
        const Index row = row0 + v0 * lanes;
        V sum[m][kScalars];
        accumulate<m>(p.pivots, p.data + first + row, stride, b, sum);
        each<columns>(TESSERA_EACH(j) {
          if (j < valid)
            each<m>(TESSERA_EACH(v) {
              store(c + (j0 + j) * out + row + v * lanes, -value(sum[v], j));
            });
        });
      });
    }
  }

  // ---- right-hand sides ----

  static void eliminate(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, Index width_) {
    const Index stride = p.stride(), n = p.pivots, vectors_of_row = width_ / lanes;
    for (Index j0 = 0; j0 < n; j0 += columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, n - j0));
      const Across b{reinterpret_cast<const R*>(p.data + j0), stride * parts};
      by_vectors(
          vectors_of_row, [&](auto vectors, Index v0) __attribute__((always_inline)) {
            constexpr int m = decltype(vectors)::value;
            T* const to = x + j0 * width_ + v0 * lanes;
            V sum[m][kScalars];
            accumulate<m>(j0, x + v0 * lanes, width_, b, sum);
            each<m>(TESSERA_EACH(v) {
              V y[columns];
              each<columns>(TESSERA_EACH(j) {
                y[j] =
                    load(to + std::min<int>(j, valid - 1) * width_ + v * lanes) - value(sum[v], j);
                if (j < valid)
                  each<j>(
                      TESSERA_EACH(l) { take(y[j], y[l], p.data[(j0 + l) * stride + j0 + j]); });
              });
              each<columns>(TESSERA_EACH(j) {
                if (j < valid) store(to + j * width_ + v * lanes, y[j]);
              });
            });
          });
    }
    for (Index i0 = 0; i0 < p.below; i0 += columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, p.below - i0));
      const Across b{reinterpret_cast<const R*>(p.lower() + i0), stride * parts};
      T* to[columns];
      for (int j = 0; j < valid; ++j) to[j] = all + Index{rows[i0 + j]} * width_;
      by_vectors(
          vectors_of_row, [&](auto vectors, Index v0) __attribute__((always_inline)) {
            constexpr int m = decltype(vectors)::value;
            V sum[m][kScalars];
            accumulate<m>(n, x + v0 * lanes, width_, b, sum);
            each<columns>(TESSERA_EACH(j) {
              if (j < valid)
                each<m>(TESSERA_EACH(v) {
                  T* const at = to[j] + (v0 + v) * lanes;
                  store(at, load(at) - value(sum[v], j));
                });
            });
          });
    }
  }

  static void substitute(const Panel<T>& p, const T* inverse, T* x, const T* all,
                         const std::int32_t* rows, Index width_) {
    const Index stride = p.stride(), n = p.pivots, vectors_of_row = width_ / lanes;
    for (Index j0 = (n - 1) / columns * columns; j0 >= 0; j0 -= columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, n - j0));
      const Index after = j0 + valid;
      const Down below(p.lower() + j0 * stride, stride, valid),
          pivots(p.data + j0 * stride + after, stride, valid);
      by_vectors(
          vectors_of_row, [&](auto vectors, Index v0) __attribute__((always_inline)) {
            constexpr int m = decltype(vectors)::value;
            T* const from = x + j0 * width_ + v0 * lanes;
            V sum[m][kScalars];
            clear(sum);
            const T* const above = all + v0 * lanes;
            accumulate(
                p.below,
                [&](Index l) __attribute__((always_inline)) { return above + rows[l] * width_; },
                below, sum);
            const T* const mine = x + after * width_ + v0 * lanes;
            accumulate(
                n - after,
                [&](Index l) __attribute__((always_inline)) { return mine + l * width_; }, pivots,
                sum);
            each<m>(TESSERA_EACH(v) {
              V y[columns];
              each<columns>(TESSERA_EACH(k) {
                constexpr int j = columns - 1 - k;
                if (j >= valid) return;
                y[j] = scaled_by(load(from + j * width_ + v * lanes), inverse[j0 + j]) -
                       value(sum[v], j);
                each<columns - 1 - j>(TESSERA_EACH(i) {
                  constexpr int l = columns - 1 - i;
                  if (l < valid) take(y[j], y[l], p.data[(j0 + j) * stride + j0 + l]);
                });
                store(from + j * width_ + v * lanes, y[j]);
              });
            });
          });
    }
  }
};

}  // namespace
}  // namespace tessera::solvers::ldlt_detail
