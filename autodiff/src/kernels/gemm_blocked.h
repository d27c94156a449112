// SPDX-License-Identifier: Apache-2.0
//
// C = alpha op(A) op(B) + beta C on the calling thread, for float and double, in the widest vectors
// that the processor has. An element of C is
//
//   s_p = a_l b_l + (... + a_0 b_0), one fused rounding each, over the p-th run of kDepth terms,
//   c = (beta c + alpha s_0) + alpha s_1 + ...
//
// so that its bits depend on its row of op(A) and its column of op(B) alone: not on m, n, the tile
// that it falls in, or the processor.
#pragma once
#include <cstdint>
#include <span>

namespace tessera::kernels {

/// op(X) as stored: row-major with a distance of two rows, perhaps transposed.
template <class T>
struct Matrix {
  const T* data;
  std::int64_t ld;
  bool transposed;
  const T* at(std::int64_t row, std::int64_t column) const {
    return data + (transposed ? column * ld + row : row * ld + column);
  }
  T operator()(std::int64_t row, std::int64_t column) const { return *at(row, column); }
};

/// Terms of a sum that are added before they meet C.
template <class T>
inline constexpr std::int64_t kDepth = 4096 / sizeof(T);

/// Bytes of the vectors that may be used (vectors.h), widest last; empty: `gemm_blocked` cannot
/// run.
std::span<const int> blocked_widths();

/// op(A) is [m, k], op(B) [k, n], C [m, n] with rows `ldc` apart; m, n, k > 0. With beta = 0 C is
/// not read. `width` is one of `blocked_widths()`.
template <class T>
void gemm_blocked(int width, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<T> a,
                  Matrix<T> b, T beta, T* c, std::int64_t ldc);

/// The same with op(B) packed once for any number of rows: C = op(A) op(B), k <= kDepth<T>.
/// `packed` has room for `packed_size` elements.
template <class T>
std::int64_t packed_size(int width, std::int64_t n, std::int64_t k);
template <class T>
void pack_columns(int width, std::int64_t n, std::int64_t k, Matrix<T> b, T* packed);
template <class T>
void gemm_packed(int width, std::int64_t m, std::int64_t n, std::int64_t k, Matrix<T> a,
                 const T* packed, T* c, std::int64_t ldc);

/// y[i stride_y] = alpha sum_l op(A)(i, l) x[l stride_x] + beta y[i stride_y], i < m, l < k: a
/// column of such a product, with its bits.
template <class T>
void gemv_blocked(int width, std::int64_t m, std::int64_t k, T alpha, Matrix<T> a, const T* x,
                  std::int64_t stride_x, T beta, T* y, std::int64_t stride_y);

}  // namespace tessera::kernels
