// SPDX-License-Identifier: Apache-2.0
//
// A tile of C, a few rows by one or two vectors, stays in registers while a run of kDepth terms is
// added to it. op(B) is packed, kColumns columns at a time, into panels of the tile's width. In
// vectors of 32 bytes 48 rows of op(A), 200 kB which stay in the second-level cache, take each
// panel in turn, which so comes from further off once for all of them. Rows 4096 bytes apart, which
// share a set of the cache, and columns, of whose lines few elements serve, are packed too. What is
// read too seldom for packing to pay is read where it is.
#include "gemm_blocked.h"

#include "fused_vectors.h"
#include "tessera/autodiff/vectors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

/// C's tile = alpha A B + beta C: A's element (i, l) at a[i * row + l * step], one of which is 1.
template <class T>
struct Tile {
  Index k;
  const T* a;
  Index row, step;
  const T* b;  ///< rows `ldb` apart
  Index ldb;
  T alpha, beta;
  T* c;
  Index ldc;
};

/// `rows` by `vectors` vectors; a row of A is contiguous, or its column is.
template <class T, int width, int rows, int vectors, bool by_rows>
[[gnu::always_inline]] inline void tile_body(const Tile<T>& t) {
  using V = typename Vector<width, T>::type;
  constexpr int lanes = width / sizeof(T), bases = (rows + 2) / 3;
  V sum[rows][vectors] = {};
  const T* base[bases];  // of every third row: with the two after it each is one address
  for (int i = 0; i < bases; ++i) base[i] = t.a + (by_rows ? 3 * i * t.row : 0);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j)
      __builtin_prefetch(t.c + i * t.ldc + j * lanes, 1);  // comes while sums are made
  const T *a = t.a, *b = t.b;
  for (Index l = 0; l < t.k; ++l) {
    V y[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) y[j] = *reinterpret_cast<const V*>(b + j * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const V x = (by_rows ? base[i / 3][i % 3 * t.row] : a[i]) - V{};
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) add_product<T>(sum[i][j], x, y[j]);
    }
    b += t.ldb;
    if constexpr (by_rows) {
#pragma GCC unroll 8
      for (int i = 0; i < bases; ++i) ++base[i];
    } else {
      a += t.step;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) {
      V* const c = reinterpret_cast<V*>(t.c + i * t.ldc + j * lanes);
      const V x = t.alpha * sum[i][j];
      *c = t.beta == T(0) ? x : t.beta * *c + x;
    }
}

/// Rows l of `count` neighbouring panels of B from rows `ld` apart.
template <class T, int width, int vectors>
[[gnu::always_inline]] inline void pack_rows_body(Index k, int count, const T* b, Index ld,
                                                  T* out) {
  using V = typename Vector<width, T>::type;
  constexpr int lanes = width / sizeof(T), columns = vectors * lanes;
  for (Index l = 0; l < k; ++l)
    for (int p = 0; p < count; ++p)
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j)
        *reinterpret_cast<V*>(out + (p * k + l) * columns + j * lanes) =
            *reinterpret_cast<const V*>(b + l * ld + p * columns + j * lanes);
}

/// One panel of B from its transposed, whose rows are `ld` apart.
template <class T, int width, int vectors>
[[gnu::always_inline]] inline void pack_columns_body(Index k, const T* b, Index ld, T* out) {
  using V = typename Vector<width, T>::type;
  constexpr int lanes = width / sizeof(T), columns = vectors * lanes;
  Index l = 0;
  for (; l + lanes <= k; l += lanes)
    for (int j = 0; j < vectors; ++j) {
      V x[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i)
        x[i] = *reinterpret_cast<const V*>(b + (j * lanes + i) * ld + l);
      exchange<T, width, 1>(x, std::make_index_sequence<lanes>{});
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i)
        *reinterpret_cast<V*>(out + (l + i) * columns + j * lanes) = x[i];
    }
  for (; l < k; ++l)
    for (int j = 0; j < columns; ++j) out[l * columns + j] = b[j * ld + l];
}

/// Rows of a tile, which are neighbours in the transposed A, one column of A after the other.
template <class T, int rows>
void pack_tile(Index k, const T* a, Index ld, T* out) {
  for (Index l = 0; l < k; ++l) std::memcpy(out + l * rows, a + l * ld, rows * sizeof(T));
}

// The bodies in vectors of 32 and 64 bytes.
template <int width>
struct Compiled;
template <>
struct Compiled<32> {
  static constexpr int max_rows = 6;  ///< by two vectors: 12 of 16 registers
  static constexpr int tiles = 8;     ///< of so many rows take a panel of B in turn
  template <class T, int rows, int vectors, bool by_rows>
  [[gnu::target("avx2,fma")]] static void tile(const Tile<T>& t) {
    tile_body<T, 32, rows, vectors, by_rows>(t);
  }
  template <class T, int vectors>
  [[gnu::target("avx2,fma")]] static void pack_rows(Index k, int count, const T* b, Index ld,
                                                    T* out) {
    pack_rows_body<T, 32, vectors>(k, count, b, ld, out);
  }
  template <class T, int vectors>
  [[gnu::target("avx2,fma")]] static void pack_columns(Index k, const T* b, Index ld, T* out) {
    pack_columns_body<T, 32, vectors>(k, b, ld, out);
  }
};
template <>
struct Compiled<64> {
  static constexpr int max_rows = 14;  ///< by two vectors: 28 of 32 registers
  static constexpr int tiles = 1;      ///< a panel serves 14 rows each time that it comes
  template <class T, int rows, int vectors, bool by_rows>
  [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] static void tile(
      const Tile<T>& t) {
    tile_body<T, 64, rows, vectors, by_rows>(t);
  }
  template <class T, int vectors>
  [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] static void pack_rows(
      Index k, int count, const T* b, Index ld, T* out) {
    pack_rows_body<T, 64, vectors>(k, count, b, ld, out);
  }
  template <class T, int vectors>
  [[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] static void pack_columns(
      Index k, const T* b, Index ld, T* out) {
    pack_columns_body<T, 64, vectors>(k, b, ld, out);
  }
};

template <class T>
using TileFn = void (*)(const Tile<T>&);

/// Tiles of one width by [by_rows][vectors - 1][rows - 1], packing of A by [rows - 1].
template <class T, int width>
struct Kernels {
  using C = Compiled<width>;
  template <bool by_rows, int vectors>
  static constexpr std::array<TileFn<T>, C::max_rows> tiles = [
  ]<int... i>(std::integer_sequence<int, i...>) {
    return std::array<TileFn<T>, C::max_rows>{&C::template tile<T, i + 1, vectors, by_rows>...};
  }
  (std::make_integer_sequence<int, C::max_rows>{});
  static constexpr std::array<std::array<std::array<TileFn<T>, C::max_rows>, 2>, 2> tile = {
      {{tiles<false, 1>, tiles<false, 2>}, {tiles<true, 1>, tiles<true, 2>}}};
  static constexpr std::array<void (*)(Index, const T*, Index, T*), C::max_rows> pack =
      []<int... i>(std::integer_sequence<int, i...>) {
    return std::array<void (*)(Index, const T*, Index, T*), C::max_rows>{&pack_tile<T, i + 1>...};
  }
  (std::make_integer_sequence<int, C::max_rows>{});
};

/// Memory of the calling thread that stays for its next product.
void* scratch(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset(new std::byte[bytes + 64]);
    size = bytes;
  }
  return memory.get() + (64 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64) % 64;
}

template <class T, int width>
void run(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c, Index ldc) {
  using C = Compiled<width>;
  using K = Kernels<T, width>;
  constexpr Index lanes = width / sizeof(T), columns = 2 * lanes;
  constexpr Index kColumns = 256;
  constexpr Index kPad = 64 / sizeof(T);  // rows a power of two apart would share few sets
  // Rows are dealt out evenly: 16 are 8 + 8, not 14 + 2.
  const Index panels_m = (m + C::max_rows - 1) / C::max_rows;
  const bool pack_a = n > 4 * columns && (a.transposed || a.ld * Index{sizeof(T)} % 4096 == 0);
  const Index deepest = std::min(k, kDepth<T>);
  const bool pack_b =
      b.transposed || (panels_m > 4 && deepest * b.ld * Index{sizeof(T)} > (Index{16} << 10));
  const Index widest = std::min((n + columns - 1) / columns * columns, kColumns);
  const Index room_a = C::max_rows * (deepest + kPad);  // for the rows of one tile
  T* const packed_b = static_cast<T*>(scratch(
      static_cast<std::size_t>(widest * deepest + (pack_a ? C::tiles : 0) * room_a) * sizeof(T)));
  T* const packed_a = packed_b + widest * deepest;

  for (Index column = 0; column < n; column += kColumns) {
    const Index width_b = std::min(kColumns, n - column), whole = width_b / columns,
                rest = width_b - whole * columns;
    for (Index depth = 0; depth < k; depth += kDepth<T>) {
      const Index terms = std::min(kDepth<T>, k - depth);
      const T beta_here = depth == 0 ? beta : T(1);

      // B: whole panels, then one with the last columns, filled up with zeros.
      if (pack_b && b.transposed) {
        for (Index p = 0; p < whole; ++p)
          C::template pack_columns<T, 2>(terms, b.at(depth, column + p * columns), b.ld,
                                         packed_b + p * columns * terms);
      } else if (pack_b) {
        for (Index p = 0; p < whole; p += 4)
          C::template pack_rows<T, 2>(terms, static_cast<int>(std::min<Index>(4, whole - p)),
                                      b.at(depth, column + p * columns), b.ld,
                                      packed_b + p * columns * terms);
      }
      T* const last = packed_b + whole * columns * terms;
      const Index last_width = rest <= lanes ? lanes : columns;
      if (rest)
        for (Index l = 0; l < terms; ++l)
          for (Index j = 0; j < last_width; ++j)
            last[l * last_width + j] = j < rest ? b(depth + l, column + whole * columns + j) : T(0);

      for (Index p = 0, row = 0; p < panels_m;) {
        Tile<T> tiles[C::tiles];
        std::size_t rows[C::tiles];
        int count = 0;
        for (; p < panels_m && count < C::tiles; ++p, ++count) {
          const Index here = m / panels_m + (p < m % panels_m);
          Tile<T>& t = tiles[count] = {terms,
                                       a.at(row, depth),
                                       a.transposed ? Index{1} : a.ld,
                                       a.transposed ? a.ld : Index{1},
                                       nullptr,
                                       pack_b ? columns : b.ld,
                                       alpha,
                                       beta_here,
                                       c + row * ldc + column,
                                       ldc};
          T* const packed = packed_a + count * room_a;
          if (pack_a && a.transposed) {
            K::pack[static_cast<std::size_t>(here - 1)](terms, t.a, a.ld, packed);
            t.a = packed, t.step = here;
          } else if (pack_a) {
            t.row = terms + kPad;
            for (Index i = 0; i < here; ++i)
              std::copy_n(a.at(row + i, depth), terms, packed + i * t.row);
            t.a = packed;
          }
          rows[count] = static_cast<std::size_t>(here);
          row += here;
        }
        for (Index q = 0; q < whole; ++q)
          for (int i = 0; i < count; ++i) {
            Tile<T>& t = tiles[i];
            t.b = pack_b ? packed_b + q * columns * terms : b.at(depth, column + q * columns);
            K::tile[!a.transposed][1][rows[i] - 1](t);
            t.c += columns;
          }
        for (int i = 0; rest && i < count; ++i) {
          Tile<T>& t = tiles[i];
          T part[C::max_rows * columns];
          T* const to = t.c;
          t.b = last, t.ldb = last_width, t.c = part, t.ldc = last_width, t.beta = 0;
          K::tile[!a.transposed][last_width == columns][rows[i] - 1](t);
          for (Index r = 0; r < static_cast<Index>(rows[i]); ++r)
            for (Index j = 0; j < rest; ++j) {
              T& out = to[r * ldc + j];
              out = beta_here == T(0) ? part[r * last_width + j]
                                      : beta_here * out + part[r * last_width + j];
            }
        }
      }
    }
  }
}

}  // namespace

std::span<const int> blocked_widths() {
  static constexpr int widths[] = {32, 64};
  return {widths, std::size_t{vector_bits() >= 256} + std::size_t{vector_bits() == 512}};
}

template <class T>
void gemm_blocked(int width, Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta,
                  T* c, Index ldc) {
  if (width == 64)
    run<T, 64>(m, n, k, alpha, a, b, beta, c, ldc);
  else
    run<T, 32>(m, n, k, alpha, a, b, beta, c, ldc);
}
template void gemm_blocked<float>(int, Index, Index, Index, float, Matrix<float>, Matrix<float>,
                                  float, float*, Index);
template void gemm_blocked<double>(int, Index, Index, Index, double, Matrix<double>, Matrix<double>,
                                   double, double*, Index);

}  // namespace tessera::kernels
