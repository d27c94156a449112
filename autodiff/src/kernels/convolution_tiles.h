// SPDX-License-Identifier: Apache-2.0
//
// The tile of convolutions: as that of gemm_blocked.cpp, a few rows by one or two vectors of C that
// stay in registers, but its terms lie in segments of A and B.
#pragma once
#include "convolution_plan.h"
#include "fused_vectors.h"
#include "scalar.h"

#include <array>
#include <complex>
#include <cstdint>
#include <utility>

namespace tessera::kernels {

/// C's tile = A B, or with `add` C + A B where rows of A are rows in memory (by_rows), else the sum
/// that C begins, continued term by term. Term l of a segment is A's element (i, l) at a[segment.a
/// + i * row + l * step], one of which is 1, times B's row at b[segment.b * unit + l * ldb].
template <class T>
struct SegmentTile {
  const Segment* segments;
  std::int64_t count;
  const T* a;
  std::int64_t row, step;
  const T* b;
  std::int64_t unit, ldb;
  bool add;
  T* c;
  std::int64_t ldc;
};
template <class T>
using SegmentTileFn = void (*)(const SegmentTile<T>&);

template <class T, int width, int rows, int vectors, bool by_rows>
[[gnu::always_inline]] inline void segment_tile(const SegmentTile<T>& t) {
  using V = typename Vector<width, T>::type;
  constexpr int lanes = width / sizeof(T), bases = (rows + 2) / 3;
  V sum[rows][vectors] = {};
  T* const out = t.c;
  const std::int64_t ldc = t.ldc, ldb = t.ldb, row = t.row, step = t.step, unit = t.unit;
  const bool add = t.add;
  const auto each = [&](auto f) __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j)
        f(sum[i][j], *reinterpret_cast<V*>(out + i * ldc + j * lanes));
  };
  if (!by_rows && add) each([](V & s, V & c) __attribute__((always_inline)) { s = c; });
  for (const Segment *s = t.segments, *end = s + t.count; s < end; ++s) {
    const T *a = t.a + s->a, *b = t.b + s->b * unit;
    const T* base[bases];  // of every third row: with the two after it each is one address
    for (int i = 0; i < bases; ++i) base[i] = a + (by_rows ? 3 * i * row : 0);
    for (std::int64_t l = s->terms; l > 0; --l) {
      V y[vectors];
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) y[j] = *reinterpret_cast<const V*>(b + j * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const V x = (by_rows ? base[i / 3][i % 3 * row] : a[i]) - V{};
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j) add_product<T>(sum[i][j], x, y[j]);
      }
      b += ldb;
      if constexpr (by_rows) {
#pragma GCC unroll 8
        for (int i = 0; i < bases; ++i) ++base[i];
      } else {
        a += step;
      }
    }
  }
  if (by_rows && add)
    each([](V & s, V & c) __attribute__((always_inline)) { c += s; });
  else
    each([](V & s, V & c) __attribute__((always_inline)) { c = s; });
}

/// sum += a b in fused steps.
template <class T>
TESSERA_HD_INLINE void add_term(T& sum, T a, T b) {
  if constexpr (is_cplx<T>) {
    const auto re = std::fma(a.real(), b.real(), sum.real()),
               im = std::fma(a.real(), b.imag(), sum.imag());
    sum = T(std::fma(-a.imag(), b.imag(), re), std::fma(a.imag(), b.real(), im));
  } else {
    sum = std::fma(a, b, sum);
  }
}

/// The same tile without vectors of its own, two or four columns.
template <class T, int rows, int columns, bool by_rows>
void plain_tile(const SegmentTile<T>& t) {
  T sum[rows][columns] = {};
  for (int i = 0; i < rows && !by_rows && t.add; ++i)
    for (int j = 0; j < columns; ++j) sum[i][j] = t.c[i * t.ldc + j];
  for (const Segment *s = t.segments, *end = s + t.count; s < end; ++s) {
    const T *a = t.a + s->a, *b = t.b + s->b * t.unit;
    for (std::int64_t l = 0; l < s->terms; ++l, a += t.step, b += t.ldb)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) add_term(sum[i][j], a[i * t.row], b[j]);
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      T& c = t.c[i * t.ldc + j];
      c = by_rows && t.add ? c + sum[i][j] : sum[i][j];
    }
}

/// Of each width: columns of a vector, most rows of a tile of two vectors and of one, and the tile
/// itself.
template <class T, int width>
struct Tiles;
template <class T>
struct Tiles<T, 0> {
  static constexpr int lanes = 2, max_rows = 4, narrow_rows = 4, in_turn = 1;
  template <int rows, int vectors, bool by_rows>
  static void run(const SegmentTile<T>& t) {
    plain_tile<T, rows, vectors * lanes, by_rows>(t);
  }
};
template <class T>
struct Tiles<T, 32> {
  static constexpr int lanes = 32 / sizeof(T), max_rows = 6, narrow_rows = 12;
  static constexpr int in_turn = 8;  ///< tiles that take a panel of B one after the other
  template <int rows, int vectors, bool by_rows>
  [[gnu::target("avx2,fma")]] static void run(const SegmentTile<T>& t) {
    segment_tile<T, 32, rows, vectors, by_rows>(t);
  }
};
template <class T>
struct Tiles<T, 64> {
  static constexpr int lanes = 64 / sizeof(T), max_rows = 14, narrow_rows = 16, in_turn = 1;
  template <int rows, int vectors, bool by_rows>
  [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] static void run(
      const SegmentTile<T>& t) {
    segment_tile<T, 64, rows, vectors, by_rows>(t);
  }
};

/// Tiles by number of vectors and rows.
template <class T, int width, bool by_rows>
struct TileTable {
  using K = Tiles<T, width>;
  template <int vectors, int most>
  static constexpr std::array<SegmentTileFn<T>, most> of = [
  ]<int... i>(std::integer_sequence<int, i...>) {
    return std::array<SegmentTileFn<T>, most>{&K::template run<i + 1, vectors, by_rows>...};
  }
  (std::make_integer_sequence<int, most>{});
  static SegmentTileFn<T> tile(bool two, std::int64_t rows) {
    const auto i = static_cast<std::size_t>(rows - 1);
    return two ? of<2, K::max_rows>[i] : of<1, K::narrow_rows>[i];
  }
};

/// Columns of C in panels of two vectors, the last of one where that is enough.
template <int lanes>
struct Panels {
  std::int64_t columns, whole, rest, last_width;
  explicit Panels(std::int64_t n)
      : columns(n),
        whole(n / (2 * lanes)),
        rest(n - whole * 2 * lanes),
        last_width(rest == 0       ? 0
                   : rest <= lanes ? lanes
                                   : 2 * lanes) {}
  std::int64_t count() const { return whole + (rest > 0); }
  std::int64_t padded() const { return whole * 2 * lanes + last_width; }
  std::int64_t width(std::int64_t p) const { return p < whole ? 2 * lanes : last_width; }
};

}  // namespace tessera::kernels
