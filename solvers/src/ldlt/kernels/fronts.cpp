// SPDX-License-Identifier: Apache-2.0
//
// All is one loop: a tile of a few vectors by eight numbers that are the same for all lanes,
//
//   sum[v][s] += a_v b_s,
//
// where a complex product by one number z, x z = x Re z + (i x) Im z, takes two of the eight, and i
// turns the sums once at the end.
#include "ldlt/kernels/fronts.h"

#include "tessera/autodiff/vectors.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are returned by functions that are inlined

namespace tessera::solvers::ldlt_detail {
namespace {

template <class T>
struct PartsOf {
  using Real = T;
  static constexpr bool complex = false;
};
template <class R>
struct PartsOf<std::complex<R>> {
  using Real = R;
  static constexpr bool complex = true;
};

constexpr int kScalars = 8;  ///< of a tile: 4 complex or 8 real columns
template <class T>
constexpr int kColumns = PartsOf<T>::complex ? kScalars / 2 : kScalars;

template <int width, class R>
struct VectorOf {
  using type [[gnu::vector_size(width), gnu::aligned(alignof(R)), gnu::may_alias]] = R;
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
  if constexpr (PartsOf<T>::complex)
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else
    return x * y;
}
template <class T>
T inverse_of(T x) {
  if constexpr (PartsOf<T>::complex) {
    using R = typename PartsOf<T>::Real;
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
struct Body {
  using R = typename PartsOf<T>::Real;
  using V = typename VectorOf<width, R>::type;
  static constexpr bool complex = PartsOf<T>::complex;
  static constexpr Index lanes = width / Index{sizeof(T)}, reals = width / Index{sizeof(R)},
                         parts = complex ? 2 : 1;
  static constexpr int columns = kColumns<T>;
  static constexpr int most = width == 64 ? 3 : 1;  ///< vectors of a tile: 24 of 32 registers, or 8

  [[gnu::always_inline]] static V load(const T* p) { return *reinterpret_cast<const V*>(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { *reinterpret_cast<V*>(p) = v; }

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

  template <int vectors, class B>
  [[gnu::always_inline]] static void accumulate(Index k, const T* a, Index stride, B b,
                                                V (&sum)[vectors][kScalars]) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 8
      for (int s = 0; s < kScalars; ++s) sum[v][s] = V{};
    for (Index l = 0; l < k; ++l) {
      V x[vectors];
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) x[v] = load(a + v * lanes);
#pragma GCC unroll 8
      for (int s = 0; s < kScalars; ++s) {
        const V y = b(s) - V{};
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) add_product<R>(sum[v][s], x[v], y);
      }
      a += stride;
      b.next();
    }
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
    if constexpr (most == 3) {
      if (count - v == 2)
        f(std::integral_constant<int, 2>{}, v);
      else if (count - v == 1)
        f(std::integral_constant<int, 1>{}, v);
    }
  }

  // ---- factors ----

  /// L's block on the diagonal: the triangle of `block`, columns by `rows`, becomes L's, d's
  /// inverses go to `inverse`.
  static void factor_block(T (&block)[columns][columns], int valid, T* inverse, Pivots& found) {
    for (int j = 0; j < valid; ++j) {
      T* const w = block[j];  // w[i] is w_ij
      for (int l = 0; l < j; ++l)
        for (int i = j; i < valid; ++i) {
          // block[l] holds L; w_il = l_il d_l is undone in `d`
          w[i] -= times(times(block[l][i], block[l][l]), block[l][j]);
        }
      const T d = w[j];
      if (d == T(0)) found.zero = true;
      const T one_by = d == T(0) ? T(0) : inverse_of(d);
      if (!std::isfinite(std::real(d)) || !std::isfinite(std::imag(d)) ||
          !std::isfinite(std::real(one_by)) || !std::isfinite(std::imag(one_by)))
        found.finite = false;
      inverse[j] = one_by;
      for (int i = j + 1; i < valid; ++i) w[i] = times(w[i], one_by);
    }
  }

  [[gnu::always_inline]] static Pivots factor(const Panel<T>& p, T* inverse, T* scaled) {
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
        factor_block(diagonal, valid, inverse + j0, found);
      }
      // All rows after it.
      const auto rows = [&](Index first, Index count) __attribute__((always_inline)) {
        by_vectors(
            count, [&](auto vectors, Index v0) __attribute__((always_inline)) {
              constexpr int m = decltype(vectors)::value;
              const Index row = first + v0 * lanes;
              T* const a = p.data + row;
              V sum[m][kScalars];
              accumulate<m>(j0, a, stride, b, sum);
#pragma GCC unroll 3
              for (int v = 0; v < m; ++v) {
                V w[columns];
#pragma GCC unroll 8
                for (int j = 0; j < columns; ++j) {
                  w[j] = load(a + (j0 + std::min(j, valid - 1)) * stride + v * lanes) -
                         value(sum[v], j);
#pragma GCC unroll 8
                  for (int l = 0; l < j; ++l)
                    if (j < valid) take(w[j], w[l], diagonal[l][j]);
                }
                const Index at = row + v * lanes;
                T* const keep = scaled + at / block * block * n + at % block;
#pragma GCC unroll 8
                for (int j = 0; j < columns; ++j)
                  if (j < valid) {
                    store(keep + (j0 + j) * block, w[j]);
                    store(a + (j0 + j) * stride + v * lanes, scaled_by(w[j], inverse[j0 + j]));
                  }
              }
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

  [[gnu::always_inline]] static void left_over(const Panel<T>& p, const T* scaled, T* c,
                                               Index begin, Index end) {
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
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j)
          if (j < valid)
#pragma GCC unroll 3
            for (int v = 0; v < m; ++v)
              store(c + (j0 + j) * out + row + v * lanes, -value(sum[v], j));
      });
    }
  }

  // ---- right-hand sides ----

  [[gnu::always_inline]] static void eliminate(const Panel<T>& p, T* x, T* all,
                                               const std::int32_t* rows, Index width_) {
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
#pragma GCC unroll 3
            for (int v = 0; v < m; ++v) {
              V y[columns];
#pragma GCC unroll 8
              for (int j = 0; j < columns; ++j) {
                y[j] = load(to + std::min(j, valid - 1) * width_ + v * lanes) - value(sum[v], j);
#pragma GCC unroll 8
                for (int l = 0; l < j; ++l)
                  if (j < valid) take(y[j], y[l], p.data[(j0 + l) * stride + j0 + j]);
              }
#pragma GCC unroll 8
              for (int j = 0; j < columns; ++j)
                if (j < valid) store(to + j * width_ + v * lanes, y[j]);
            }
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
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j)
              if (j < valid)
#pragma GCC unroll 3
                for (int v = 0; v < m; ++v) {
                  T* const at = to[j] + (v0 + v) * lanes;
                  store(at, load(at) - value(sum[v], j));
                }
          });
    }
  }

  [[gnu::always_inline]] static void substitute(const Panel<T>& p, const T* inverse, T* x,
                                                const T* all, const std::int32_t* rows,
                                                Index width_, T* held) {
    const Index stride = p.stride(), n = p.pivots, first = padded<T>(n),
                vectors_of_row = width_ / lanes;
    const std::size_t bytes = static_cast<std::size_t>(width_) * sizeof(T);
    for (Index i = 0; i < p.below; ++i)
      std::memcpy(held + (first + i) * width_, all + Index{rows[i]} * width_, bytes);
    // What lies between belongs to zeros of L, and must be finite.
    std::fill(held + n * width_, held + first * width_, T(0));
    for (Index j0 = (n - 1) / columns * columns; j0 >= 0; j0 -= columns) {
      const int valid = static_cast<int>(std::min<Index>(columns, n - j0));
      const Index after = j0 + valid, terms = first + p.below - after;
      const Down b(p.data + j0 * stride + after, stride, valid);
      by_vectors(
          vectors_of_row, [&](auto vectors, Index v0) __attribute__((always_inline)) {
            constexpr int m = decltype(vectors)::value;
            T* const from = x + j0 * width_ + v0 * lanes;
            V sum[m][kScalars];
            accumulate<m>(terms, held + after * width_ + v0 * lanes, width_, b, sum);
#pragma GCC unroll 3
            for (int v = 0; v < m; ++v) {
              V y[columns];
#pragma GCC unroll 8
              for (int j = columns - 1; j >= 0; --j) {
                if (j >= valid) continue;
                y[j] = scaled_by(load(from + j * width_ + v * lanes), inverse[j0 + j]) -
                       value(sum[v], j);
#pragma GCC unroll 8
                for (int l = columns - 1; l > j; --l)
                  if (l < valid) take(y[j], y[l], p.data[(j0 + j) * stride + j0 + l]);
                store(from + j * width_ + v * lanes, y[j]);
                store(held + (j0 + j) * width_ + (v0 + v) * lanes, y[j]);
              }
            }
          });
    }
  }
};

// The bodies in the vectors of the build and in those of 64 bytes.
#if defined(__AVX2__)
constexpr int kNarrow = 32;
#else
constexpr int kNarrow = 16;
#endif
#if defined(__x86_64__)
#define TESSERA_WIDE [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]]
constexpr int kWide = 64;
#else
#define TESSERA_WIDE
constexpr int kWide = kNarrow;
#endif

template <class T>
struct Narrow {
  using B = Body<kNarrow, T>;
  static Pivots factor(const Panel<T>& p, T* inverse, T* scaled) {
    return B::factor(p, inverse, scaled);
  }
  static void left_over(const Panel<T>& p, const T* scaled, T* c, Index begin, Index end) {
    B::left_over(p, scaled, c, begin, end);
  }
  static void eliminate(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, Index width) {
    B::eliminate(p, x, all, rows, width);
  }
  static void substitute(const Panel<T>& p, const T* inverse, T* x, const T* all,
                         const std::int32_t* rows, Index width, T* held) {
    B::substitute(p, inverse, x, all, rows, width, held);
  }
};
template <class T>
struct Wide {
  using B = Body<kWide, T>;
  TESSERA_WIDE static Pivots factor(const Panel<T>& p, T* inverse, T* scaled) {
    return B::factor(p, inverse, scaled);
  }
  TESSERA_WIDE static void left_over(const Panel<T>& p, const T* scaled, T* c, Index begin,
                                     Index end) {
    B::left_over(p, scaled, c, begin, end);
  }
  TESSERA_WIDE static void eliminate(const Panel<T>& p, T* x, T* all, const std::int32_t* rows,
                                     Index width) {
    B::eliminate(p, x, all, rows, width);
  }
  TESSERA_WIDE static void substitute(const Panel<T>& p, const T* inverse, T* x, const T* all,
                                      const std::int32_t* rows, Index width, T* held) {
    B::substitute(p, inverse, x, all, rows, width, held);
  }
};

bool wide() {
  static const bool is = vector_bits() == 512;
  return is;
}

}  // namespace

template <class T>
Pivots factor_panel(const Panel<T>& p, T* inverse, T* scaled) {
  return wide() ? Wide<T>::factor(p, inverse, scaled) : Narrow<T>::factor(p, inverse, scaled);
}
template <class T>
void left_over(const Panel<T>& p, const T* scaled, T* c, Index begin, Index end) {
  if (wide())
    Wide<T>::left_over(p, scaled, c, begin, end);
  else
    Narrow<T>::left_over(p, scaled, c, begin, end);
}
template <class T>
void eliminate(const Panel<T>& p, T* x, T* all, const std::int32_t* rows, Index width) {
  if (wide())
    Wide<T>::eliminate(p, x, all, rows, width);
  else
    Narrow<T>::eliminate(p, x, all, rows, width);
}
template <class T>
void substitute(const Panel<T>& p, const T* inverse, T* x, const T* all, const std::int32_t* rows,
                Index width, T* held) {
  if (wide())
    Wide<T>::substitute(p, inverse, x, all, rows, width, held);
  else
    Narrow<T>::substitute(p, inverse, x, all, rows, width, held);
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template Pivots factor_panel<T>(const Panel<T>&, T*, T*);                                        \
  template void left_over<T>(const Panel<T>&, const T*, T*, Index, Index);                         \
  template void eliminate<T>(const Panel<T>&, T*, T*, const std::int32_t*, Index);                 \
  template void substitute<T>(const Panel<T>&, const T*, T*, const T*, const std::int32_t*, Index, \
                              T*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(c64)
TESSERA_INSTANTIATE(c128)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::solvers::ldlt_detail
