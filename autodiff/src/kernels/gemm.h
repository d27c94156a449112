// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tessera::kernels {

/// C = alpha op(A) op(B) + beta C for row-major matrices: op(A) is [m, k], op(B) [k, n], C [m, n];
/// op transposes where the flag says so (without conjugation), and a leading dimension is the
/// distance of two rows as stored. With beta = 0 C is not read. T is float, double,
/// std::complex<float> or std::complex<double>.
///
/// Runs on all threads. Float and double are ours (gemm_blocked.h), where the processor has AVX2:
/// the bits of an element follow from its row of op(A) and its column of op(B) alone, whatever m,
/// n, the layout, the threads and the width of vectors; a row of a product, a column, and a member
/// of a batch have the bits that they have alone. Complex products go tile by tile through
/// single-threaded BLAS calls; their tiles, and the splitting of long sums of few elements (m, n <
/// 96, k >= 1024), depend on (m, n, k) alone, so that these bits do not depend on the number of
/// threads, but they do depend on m and n. Throws Error when a size does not fit BLAS's 32-bit
/// integers.
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c,
          std::int64_t ldc);

/// Bytes that it takes beside its operands and result.
template <class T>
std::size_t gemm_workspace(std::int64_t m, std::int64_t n, std::int64_t k);

/// Whether C = op(A) op(B) with sums of k terms and n columns is also made row by row, with the
/// same bits: op(B) is packed for all, 256 KiB at most, which stay in the second-level cache beside
/// what is done with the rows. Beyond, 2 k fused steps an element outweigh another pass over C.
template <class T>
bool has_gemm_rows(std::int64_t n, std::int64_t k);
template <class T>
std::int64_t gemm_packed_size(std::int64_t n, std::int64_t k);
template <class T>
void gemm_pack(bool transpose_b, std::int64_t n, std::int64_t k, const T* b, std::int64_t ldb,
               T* packed);
/// m rows of op(A), which begins at `a`, on the calling thread.
template <class T>
void gemm_rows(bool transpose_a, std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
               std::int64_t lda, const T* packed, T* c, std::int64_t ldc);

/// `batch` products; matrix i starts at a + i stride_a and so on (a stride of 0 repeats one matrix;
/// stride_c must keep the results apart). Each product has the bits of `gemm` with the same shape.
template <class T>
void gemm_batched(std::int64_t batch, bool transpose_a, bool transpose_b, std::int64_t m,
                  std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda,
                  std::int64_t stride_a, const T* b, std::int64_t ldb, std::int64_t stride_b,
                  T beta, T* c, std::int64_t ldc, std::int64_t stride_c);

}  // namespace tessera::kernels
