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

/// A tile's columns; a panel of op(B) is so wide.
template <class T, int width>
constexpr Index kPanel = 2 * width / Index{sizeof(T)};

/// Columns of op(B) for sums of k <= kDepth terms: whole panels, which lie where B does or packed
/// one after the other, and the rest of less than one, which is packed and filled up with zeros.
template <class T>
struct Panels {
  Matrix<T> b;
  bool in_place;  ///< whole panels
  const T* packed;

  /// Packs them there.
  template <int width>
  void pack(Index n, Index k, T* to) const {
    using C = Compiled<width>;
    constexpr Index columns = kPanel<T, width>, lanes = columns / 2;
    const Index whole = n / columns, rest = n - whole * columns;
    if (!in_place && b.transposed) {
      for (Index p = 0; p < whole; ++p)
        C::template pack_columns<T, 2>(k, b.at(0, p * columns), b.ld, to + p * columns * k);
    } else if (!in_place) {
      for (Index p = 0; p < whole; p += 4)
        C::template pack_rows<T, 2>(k, static_cast<int>(std::min<Index>(4, whole - p)),
                                    b.at(0, p * columns), b.ld, to + p * columns * k);
    }
    T* const last = to + whole * columns * k;
    const Index last_width = rest <= lanes ? lanes : columns;
    if (rest)
      for (Index l = 0; l < k; ++l)
        for (Index j = 0; j < last_width; ++j)
          last[l * last_width + j] = j < rest ? b(l, whole * columns + j) : T(0);
  }
};

/// Rows of op(A) are packed where they share sets of the cache, or few elements of their lines
/// serve.
template <class T, int width>
bool packs_rows(Index n, Matrix<T> a) {
  return n > 4 * kPanel<T, width> && (a.transposed || a.ld * Index{sizeof(T)} % 4096 == 0);
}
constexpr Index kRowPad = 64;  ///< bytes: rows a power of two apart would share few sets
/// Elements of packed rows.
template <class T, int width>
constexpr Index room_for_rows(Index k) {
  return Compiled<width>::tiles * Compiled<width>::max_rows * (k + kRowPad / Index{sizeof(T)});
}

/// All rows against panels of n columns: C = alpha A B + beta C, k <= kDepth.
template <class T, int width>
void rows_by_panels(Index m, Index n, Index k, T alpha, Matrix<T> a, const Panels<T>& b, T beta,
                    T* c, Index ldc, T* packed_a) {
  using C = Compiled<width>;
  using K = Kernels<T, width>;
  constexpr Index columns = kPanel<T, width>, lanes = columns / 2;
  constexpr Index kPad = kRowPad / Index{sizeof(T)};
  const Index whole = n / columns, rest = n - whole * columns;
  const Index last_width = rest <= lanes ? lanes : columns;
  const T* const last = b.packed + whole * columns * k;
  // Rows are dealt out evenly: 16 are 8 + 8, not 14 + 2.
  const Index panels_m = (m + C::max_rows - 1) / C::max_rows;
  for (Index p = 0, row = 0; p < panels_m;) {
    Tile<T> tiles[C::tiles];
    std::size_t rows[C::tiles];
    int count = 0;
    for (; p < panels_m && count < C::tiles; ++p, ++count) {
      const Index here = m / panels_m + (p < m % panels_m);
      Tile<T>& t = tiles[count] = {k,
                                   a.at(row, 0),
                                   a.transposed ? Index{1} : a.ld,
                                   a.transposed ? a.ld : Index{1},
                                   nullptr,
                                   b.in_place ? b.b.ld : columns,
                                   alpha,
                                   beta,
                                   c + row * ldc,
                                   ldc};
      T* const packed = packed_a + count * C::max_rows * (k + kPad);
      if (packed_a && a.transposed) {
        K::pack[static_cast<std::size_t>(here - 1)](k, t.a, a.ld, packed);
        t.a = packed, t.step = here;
      } else if (packed_a) {
        t.row = k + kPad;
        for (Index i = 0; i < here; ++i) std::copy_n(a.at(row + i, 0), k, packed + i * t.row);
        t.a = packed;
      }
      rows[count] = static_cast<std::size_t>(here);
      row += here;
    }
    for (Index q = 0; q < whole; ++q)
      for (int i = 0; i < count; ++i) {
        Tile<T>& t = tiles[i];
        t.b = b.in_place ? b.b.at(0, q * columns) : b.packed + q * columns * k;
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
          out = beta == T(0) ? part[r * last_width + j] : beta * out + part[r * last_width + j];
        }
    }
  }
}

template <class T, int width>
void run(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c, Index ldc) {
  constexpr Index columns = kPanel<T, width>, kColumns = 256;
  const Index deepest = std::min(k, kDepth<T>);
  const bool pack_a = packs_rows<T, width>(n, a);
  const bool pack_b = b.transposed || (m > 4 * Compiled<width>::max_rows &&
                                       deepest * b.ld * Index{sizeof(T)} > (Index{16} << 10));
  const Index widest = std::min((n + columns - 1) / columns * columns, kColumns);
  T* const packed_b = static_cast<T*>(
      scratch(static_cast<std::size_t>(widest * deepest +
                                       (pack_a ? room_for_rows<T, width>(deepest) : Index{0})) *
              sizeof(T)));
  T* const packed_a = pack_a ? packed_b + widest * deepest : nullptr;
  for (Index column = 0; column < n; column += kColumns) {
    const Index here = std::min(kColumns, n - column);
    for (Index depth = 0; depth < k; depth += kDepth<T>) {
      const Index terms = std::min(kDepth<T>, k - depth);
      const Panels<T> panels{{b.at(depth, column), b.ld, b.transposed}, !pack_b, packed_b};
      panels.template pack<width>(here, terms, packed_b);
      rows_by_panels<T, width>(m, here, terms, alpha, {a.at(0, depth), a.ld, a.transposed}, panels,
                               depth == 0 ? beta : T(1), c + column, ldc, packed_a);
    }
  }
}

template <class T, int width>
void run_packed(Index m, Index n, Index k, Matrix<T> a, const T* packed_b, T* c, Index ldc) {
  T* const packed_a = packs_rows<T, width>(n, a)
                          ? static_cast<T*>(scratch(
                                static_cast<std::size_t>(room_for_rows<T, width>(k)) * sizeof(T)))
                          : nullptr;
  rows_by_panels<T, width>(m, n, k, T(1), a, {{}, false, packed_b}, T(0), c, ldc, packed_a);
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

template <class T>
Index packed_size(int width, Index n, Index k) {
  const Index columns = 2 * width / Index{sizeof(T)};
  return (n + columns - 1) / columns * columns * k;
}

template <class T>
void pack_columns(int width, Index n, Index k, Matrix<T> b, T* packed) {
  const Panels<T> panels{b, false, packed};
  if (width == 64)
    panels.template pack<64>(n, k, packed);
  else
    panels.template pack<32>(n, k, packed);
}

template <class T>
void gemm_packed(int width, Index m, Index n, Index k, Matrix<T> a, const T* packed, T* c,
                 Index ldc) {
  if (width == 64)
    run_packed<T, 64>(m, n, k, a, packed, c, ldc);
  else
    run_packed<T, 32>(m, n, k, a, packed, c, ldc);
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template void gemm_blocked<T>(int, Index, Index, Index, T, Matrix<T>, Matrix<T>, T, T*, Index); \
  template Index packed_size<T>(int, Index, Index);                                               \
  template void pack_columns<T>(int, Index, Index, Matrix<T>, T*);                                \
  template void gemm_packed<T>(int, Index, Index, Index, Matrix<T>, const T*, T*, Index);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::kernels
