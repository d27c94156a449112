// SPDX-License-Identifier: Apache-2.0
#include "gemm.h"

#include "../base/scratch.h"
#include "gemm_blocked.h"
#include "scalar.h"
#include "serial_blas.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

template <class T>
void scale_rows(Index m, Index n, T beta, T* c, Index ldc) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      c[i * ldc + j] = beta == T(0) ? T(0) : multiply(beta, c[i * ldc + j]);
}

/// Up to this size a plain loop is done before the others have begun.
constexpr Index kTiny = 3;

template <class T>
void gemm_tiny(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
               Index ldc) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      T sum(0);
      for (Index l = 0; l < k; ++l) {
        if constexpr (std::is_floating_point_v<T>)
          sum = std::fma(a(i, l), b(l, j), sum);  // as gemm_blocked
        else
          sum += multiply(a(i, l), b(l, j));
      }
      T& out = c[i * ldc + j];
      out = beta == T(0) ? multiply(alpha, sum) : multiply(alpha, sum) + multiply(beta, out);
    }
}

/// y[i stride_y] = alpha sum_l a(i, l) x[l stride_x] + beta y, by BLAS.
template <class T>
void call_gemv(Index m, Index k, T alpha, Matrix<T> a, const T* x, Index stride_x, T beta, T* y,
               Index stride_y) {
  const CBLAS_TRANSPOSE op = a.transposed ? CblasTrans : CblasNoTrans;
  const int rows = static_cast<int>(a.transposed ? k : m),
            cols = static_cast<int>(a.transposed ? m : k);
  const int ld = static_cast<int>(a.ld), sx = static_cast<int>(stride_x),
            sy = static_cast<int>(stride_y);
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemv(CblasRowMajor, op, rows, cols, alpha, a.data, ld, x, sx, beta, y, sy);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dgemv(CblasRowMajor, op, rows, cols, alpha, a.data, ld, x, sx, beta, y, sy);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    cblas_cgemv(CblasRowMajor, op, rows, cols, &alpha, a.data, ld, x, sx, &beta, y, sy);
  else
    cblas_zgemv(CblasRowMajor, op, rows, cols, &alpha, a.data, ld, x, sx, &beta, y, sy);
}

template <class T>
void call_gemm(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
               Index ldc) {
  if (n == 1)
    return call_gemv(m, k, alpha, a, b.data, b.transposed ? Index{1} : b.ld, beta, c, ldc);
  if (m == 1) {
    const Matrix<T> turned{b.data, b.ld, !b.transposed};
    return call_gemv(n, k, alpha, turned, a.data, a.transposed ? a.ld : Index{1}, beta, c,
                     Index{1});
  }
  const CBLAS_TRANSPOSE op_a = a.transposed ? CblasTrans : CblasNoTrans;
  const CBLAS_TRANSPOSE op_b = b.transposed ? CblasTrans : CblasNoTrans;
  const int mi = static_cast<int>(m), ni = static_cast<int>(n), ki = static_cast<int>(k);
  const int la = static_cast<int>(a.ld), lb = static_cast<int>(b.ld), lc = static_cast<int>(ldc);
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, op_a, op_b, mi, ni, ki, alpha, a.data, la, b.data, lb, beta, c, lc);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dgemm(CblasRowMajor, op_a, op_b, mi, ni, ki, alpha, a.data, la, b.data, lb, beta, c, lc);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    cblas_cgemm(CblasRowMajor, op_a, op_b, mi, ni, ki, &alpha, a.data, la, b.data, lb, &beta, c,
                lc);
  else
    cblas_zgemm(CblasRowMajor, op_a, op_b, mi, ni, ki, &alpha, a.data, la, b.data, lb, &beta, c,
                lc);
}

/// Whether `gemm_blocked` serves the type, and in vectors of how many bytes; 0: BLAS does.
template <class T>
int blocked_width() {
  if constexpr (std::is_floating_point_v<T>) {
    static const int width = blocked_widths().empty() ? 0 : blocked_widths().back();
    return width;
  }
  return 0;
}

/// One tile on this thread, in the order of gemm_blocked.h.
template <class T>
void ordered_tile(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
                  Index ldc) {
  const int width = blocked_width<T>();
  if (n == 1)
    return gemv_blocked<T>(width, m, k, alpha, a, b.data, b.transposed ? Index{1} : b.ld, beta, c,
                           ldc);
  if (m == 1)
    return gemv_blocked<T>(width, n, k, alpha, {b.data, b.ld, !b.transposed}, a.data,
                           a.transposed ? a.ld : Index{1}, beta, c, Index{1});
  gemm_blocked<T>(width, m, n, k, alpha, a, b, beta, c, ldc);
}

/// One tile on this thread by BLAS.
template <class T>
void blas_tile(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
               Index ldc, bool guarded) {
  if (guarded) return call_gemm(m, n, k, alpha, a, b, beta, c, ldc);
  const SerialBlas serial;
  call_gemm(m, n, k, alpha, a, b, beta, c, ldc);
}

/// How a product is cut: into rows x columns tiles, and its sums into `depth` parts that are added
/// in order.
struct Grid {
  Index rows = 1, columns = 1, depth = 1;
};

/// The number of tiles grows with the work, so that each stays long against starting threads and
/// against packing its operands. A row of tiles packs B again, a column A; measured on
/// 500^3-2000^3, columns cost 2.5 times rows. Four tiles at 1000^3-2000^3 lose 0-3 % against one
/// call, eight 3-8 %.
Grid choose_grid(Index m, Index n, Index k, Index flops_per_term) {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                      static_cast<double>(flops_per_term);
  Grid best;
  if (work < 0x1p20) return best;
  Index tiles = 1;
  for (const double limit : {0x1p20, 0x1p23, 0x1p33, 0x1p36, 0x1p39})
    if (work >= limit) tiles *= 2;
  constexpr Index kLeast = 48;  // rows or columns of a tile
  double best_cost = std::numeric_limits<double>::infinity();
  for (Index rows = 1; rows <= tiles; rows *= 2)
    for (Index columns = 1; rows * columns <= tiles; columns *= 2) {
      if ((rows > 1 && m / rows < kLeast) || (columns > 1 && n / columns < kLeast)) continue;
      const double cost =
          2.0 * static_cast<double>(rows * n) + 5.0 * static_cast<double>(columns * m);
      const bool more = rows * columns > best.rows * best.columns;
      if (more || (rows * columns == best.rows * best.columns && cost < best_cost)) {
        best = {rows, columns, 1};
        best_cost = cost;
      }
    }
  constexpr Index kLeastDepth = 512;
  while (best.rows * best.columns * best.depth < tiles && k / (2 * best.depth) >= kLeastDepth)
    best.depth *= 2;
  return best;
}

/// Start of part i of `parts` of [0, n), at multiples of 16.
Index cut(Index n, Index parts, Index i) {
  if (i == parts) return n;
  const Index at = n / parts * i + n % parts * i / parts;
  return parts == 1 ? 0 : at / 16 * 16;
}

/// Tiles of sums in order, whose bits do not depend on them: two for each thread, of at least 2^19
/// terms. A row of tiles packs B again, a column A.
Grid choose_tiles(Index m, Index n, Index k) {
  const Index threads = detail::in_parallel() ? 1 : num_threads();
  const Index most =
      threads == 1
          ? 1
          : std::min<Index>(2 * threads,
                            static_cast<Index>(static_cast<double>(m) * static_cast<double>(n) *
                                               static_cast<double>(k) * 0x1p-19));
  constexpr Index kLeast = 48;
  Grid best;
  for (Index rows = 1; rows <= most; ++rows)
    for (Index columns = 1; rows * columns <= most; ++columns) {
      if ((rows > 1 && m / rows < kLeast) || (columns > 1 && n / columns < kLeast)) continue;
      const Index more = rows * columns - best.rows * best.columns;
      if (more > 0 || (more == 0 && rows * n + columns * m < best.rows * n + best.columns * m))
        best = {rows, columns, 1};
    }
  return best;
}

/// f(i, i_end, j, j_end) for all tiles, in parallel.
template <class F>
void for_tiles(Index m, Index n, Grid grid, F&& f) {
  parallel_chunks(grid.rows * grid.columns, [&](Index tile) {
    const Index row = tile / grid.columns, column = tile % grid.columns;
    f(cut(m, grid.rows, row), cut(m, grid.rows, row + 1), cut(n, grid.columns, column),
      cut(n, grid.columns, column + 1));
  });
}

/// Few elements of long sums: threads take runs of `depth` terms, some to a chunk.
struct RunsApart {
  Index runs, per_chunk, at_once = 0;  ///< 0: a tile sums all
  RunsApart(Index depth, Grid grid, Index m, Index n, Index k)
      : runs((k + depth - 1) / depth), per_chunk((Index{1} << 18) / (depth * m * n) + 1) {
    if (grid.rows * grid.columns == 1 && runs > per_chunk && num_threads() > 1 &&
        !detail::in_parallel())
      at_once = std::min(runs, 4 * num_threads() * per_chunk);
  }
};

/// Float and double where the processor has AVX2. The sums of runs that are kept apart join C in
/// order, as in one call.
template <class T>
void gemm_ordered(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
                  Index ldc) {
  const Grid grid = choose_tiles(m, n, k);
  constexpr Index depth = kDepth<T>;
  const RunsApart apart(depth, grid, m, n, k);
  if (apart.at_once == 0) {
    for_tiles(m, n, grid, [&](Index i, Index i_end, Index j, Index j_end) {
      ordered_tile<T>(i_end - i, j_end - j, k, alpha, {a.at(i, 0), a.ld, a.transposed},
                      {b.at(0, j), b.ld, b.transposed}, beta, c + i * ldc + j, ldc);
    });
    return;
  }
  const Index per_chunk = apart.per_chunk;
  detail::Scratch<T> sums(static_cast<std::size_t>(apart.at_once * m * n));
  for (Index first = 0; first < apart.runs; first += apart.at_once) {
    const Index count = std::min(apart.at_once, apart.runs - first);
    parallel_chunks((count + per_chunk - 1) / per_chunk, [&](Index chunk) {
      for (Index r = chunk * per_chunk; r < std::min(count, (chunk + 1) * per_chunk); ++r) {
        const Index l = (first + r) * depth;
        ordered_tile<T>(m, n, std::min(depth, k - l), T(1), {a.at(0, l), a.ld, a.transposed},
                        {b.at(l, 0), b.ld, b.transposed}, T(0), sums.data() + r * m * n, n);
      }
    });
    for (Index r = 0; r < count; ++r)
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) {
          T& out = c[i * ldc + j];
          const T s = alpha * sums[static_cast<std::size_t>((r * m + i) * n + j)];
          out = first + r > 0 ? out + s : beta == T(0) ? s : beta * out + s;
        }
  }
}

void check_size(Index n) {
  if (n > std::numeric_limits<int>::max())
    throw Error("[gemm] size " + std::to_string(n) + " is beyond the 32-bit integers of BLAS");
}

/// One product; `guarded` says that a SerialBlas of this thread already lives.
template <class T>
void gemm_one(Index m, Index n, Index k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c, Index ldc,
              bool guarded = false) {
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == T(0)) return scale_rows(m, n, beta, c, ldc);
  if (std::max({m, n, k}) <= kTiny) return gemm_tiny(m, n, k, alpha, a, b, beta, c, ldc);
  if constexpr (std::is_floating_point_v<T>)
    if (blocked_width<T>()) return gemm_ordered(m, n, k, alpha, a, b, beta, c, ldc);
  for (Index size : {m, n, k, a.ld, b.ld, ldc}) check_size(size);
  const Grid grid = choose_grid(m, n, k, std::is_floating_point_v<T> ? 1 : 4);
  if (grid.rows * grid.columns * grid.depth == 1)
    return blas_tile(m, n, k, alpha, a, b, beta, c, ldc, guarded);
  detail::Scratch<T> partial(grid.depth > 1 ? static_cast<std::size_t>((grid.depth - 1) * m * n)
                                            : 0);
  parallel_chunks(grid.rows * grid.columns * grid.depth, [&](Index tile) {
    const Index row = tile / grid.columns % grid.rows, column = tile % grid.columns;
    const Index part = tile / (grid.columns * grid.rows);
    const Index i = cut(m, grid.rows, row), i_end = cut(m, grid.rows, row + 1);
    const Index j = cut(n, grid.columns, column), j_end = cut(n, grid.columns, column + 1);
    const Index l = cut(k, grid.depth, part), l_end = cut(k, grid.depth, part + 1);
    const Matrix<T> ta{a.at(i, l), a.ld, a.transposed}, tb{b.at(l, j), b.ld, b.transposed};
    if (part == 0)
      blas_tile(i_end - i, j_end - j, l_end - l, alpha, ta, tb, beta, c + i * ldc + j, ldc, false);
    else
      blas_tile(i_end - i, j_end - j, l_end - l, alpha, ta, tb, T(0),
                partial.data() + ((part - 1) * m + i) * n + j, n, false);
  });
  for (Index part = 1; part < grid.depth; ++part)
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        c[i * ldc + j] += partial[static_cast<std::size_t>(((part - 1) * m + i) * n + j)];
}

}  // namespace

template <class T>
void gemm(bool transpose_a, bool transpose_b, Index m, Index n, Index k, T alpha, const T* a,
          Index lda, const T* b, Index ldb, T beta, T* c, Index ldc) {
  gemm_one<T>(m, n, k, alpha, {a, lda, transpose_a}, {b, ldb, transpose_b}, beta, c, ldc);
}

template <class T>
std::size_t gemm_workspace(Index m, Index n, Index k) {
  if (m == 0 || n == 0 || k == 0 || std::max({m, n, k}) <= kTiny) return 0;
  if constexpr (std::is_floating_point_v<T>)
    if (blocked_width<T>())
      return detail::scratch_bytes<T>(RunsApart(kDepth<T>, choose_tiles(m, n, k), m, n, k).at_once *
                                      m * n);
  const Grid grid = choose_grid(m, n, k, std::is_floating_point_v<T> ? 1 : 4);
  return detail::scratch_bytes<T>((grid.depth - 1) * m * n);
}

template <class T>
void gemm_batched(Index batch, bool transpose_a, bool transpose_b, Index m, Index n, Index k,
                  T alpha, const T* a, Index lda, Index stride_a, const T* b, Index ldb,
                  Index stride_b, T beta, T* c, Index ldc, Index stride_c) {
  auto one = [&](Index i, bool guarded) {
    gemm_one<T>(m, n, k, alpha, {a + i * stride_a, lda, transpose_a},
                {b + i * stride_b, ldb, transpose_b}, beta, c + i * stride_c, ldc, guarded);
  };
  // Few large products: threads inside each. Many: threads over chunks of them (inside, tiles then
  // run in order).
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (work >= 0x1p23 || batch == 1) {
    for (Index i = 0; i < batch; ++i) one(i, false);
    return;
  }
  const Index per_chunk = std::max<Index>(1, static_cast<Index>(0x1p17 / std::max(work, 64.0)));
  parallel_chunks((batch + per_chunk - 1) / per_chunk, [&](Index chunk) {
    const SerialBlas serial;
    for (Index i = chunk * per_chunk; i < std::min(batch, (chunk + 1) * per_chunk); ++i)
      one(i, true);
  });
}

template <class T>
bool has_gemm_rows(Index n, Index k) {
  constexpr Index kBytes = Index{256} << 10, kShortRow = 192 / Index{sizeof(T)};
  return blocked_width<T>() && n > 0 && k >= kShortRow && k <= kDepth<T> &&
         packed_size<T>(blocked_width<T>(), n, k) * Index{sizeof(T)} <= kBytes;
}
template <class T>
Index gemm_packed_size(Index n, Index k) {
  return packed_size<T>(blocked_width<T>(), n, k);
}
template <class T>
void gemm_pack(bool transpose_b, Index n, Index k, const T* b, Index ldb, T* packed) {
  pack_columns<T>(blocked_width<T>(), n, k, {b, ldb, transpose_b}, packed);
}
template <class T>
void gemm_rows(bool transpose_a, Index m, Index n, Index k, const T* a, Index lda, const T* packed,
               T* c, Index ldc) {
  gemm_packed<T>(blocked_width<T>(), m, n, k, {a, lda, transpose_a}, packed, c, ldc);
}
#define TESSERA_INSTANTIATE(T)                                         \
  template bool has_gemm_rows<T>(Index, Index);                        \
  template Index gemm_packed_size<T>(Index, Index);                    \
  template void gemm_pack<T>(bool, Index, Index, const T*, Index, T*); \
  template void gemm_rows<T>(bool, Index, Index, Index, const T*, Index, const T*, T*, Index);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

#define TESSERA_INSTANTIATE(T)                                                                     \
  template std::size_t gemm_workspace<T>(Index, Index, Index);                                     \
  template void gemm<T>(bool, bool, Index, Index, Index, T, const T*, Index, const T*, Index, T,   \
                        T*, Index);                                                                \
  template void gemm_batched<T>(Index, bool, bool, Index, Index, Index, T, const T*, Index, Index, \
                                const T*, Index, Index, T, T*, Index, Index);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::kernels
