// SPDX-License-Identifier: Apache-2.0
//
// Where a row of A is contiguous, sixteen or more are read side by side and transposed in
// registers, since a sum is a chain of roundings; where a column is, eight terms are added to a
// strip of sums that stays in the first-level cache. One row alone has as many chains as runs.
#include "fused_vectors.h"
#include "gemm_blocked.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

// Transposing squares of 4 doubles or 8 floats: half of row i and half of row i + lanes/2 come as
// one vector, the rest are exchanges within halves.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void load_columns(
    const double* const* row, Index l, Vector<32, double>::type* a) {
  for (int h = 0; h < 2; ++h) {
    const auto rows = [&](int i) __attribute__((always_inline, target("avx2,fma"))) {
      return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row[i] + l + 2 * h)),
                                  _mm_loadu_pd(row[i + 2] + l + 2 * h), 1);
    };
    const __m256d u = rows(0), v = rows(1);
    a[2 * h] = _mm256_unpacklo_pd(u, v), a[2 * h + 1] = _mm256_unpackhi_pd(u, v);
  }
}
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void load_columns(
    const float* const* row, Index l, Vector<32, float>::type* a) {
  for (int h = 0; h < 2; ++h) {
    const auto rows = [&](int i) __attribute__((always_inline, target("avx2,fma"))) {
      return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row[i] + l + 4 * h)),
                                  _mm_loadu_ps(row[i + 4] + l + 4 * h), 1);
    };
    const __m256 x0 = rows(0), x1 = rows(1), x2 = rows(2), x3 = rows(3);
    const __m256 p = _mm256_unpacklo_ps(x0, x1), q = _mm256_unpackhi_ps(x0, x1),
                 r = _mm256_unpacklo_ps(x2, x3), s = _mm256_unpackhi_ps(x2, x3);
    a[4 * h] = _mm256_shuffle_ps(p, r, 0x44), a[4 * h + 1] = _mm256_shuffle_ps(p, r, 0xee);
    a[4 * h + 2] = _mm256_shuffle_ps(q, s, 0x44), a[4 * h + 3] = _mm256_shuffle_ps(q, s, 0xee);
  }
}

/// sum_i = the chain over l of row_i[l] x[l], for `groups` vectors of rows; a line of each row is
/// read at a time.
template <class T, int groups>
[[gnu::target("avx2,fma")]] void chain_rows(const T* const* row, Index k, const T* x, T* sum) {
  using V = typename Vector<32, T>::type;
  constexpr int lanes = 32 / sizeof(T);
  V s[groups] = {};
  Index l = 0;
  for (; l + 2 * lanes <= k; l += 2 * lanes)
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g)
#pragma GCC unroll 2
      for (int h = 0; h < 2 * lanes; h += lanes) {
        V a[lanes];
        load_columns(row + g * lanes, l + h, a);
#pragma GCC unroll 8
        for (int i = 0; i < lanes; ++i) add_product<T>(s[g], a[i], x[l + h + i] - V{});
      }
#pragma GCC unroll 8
  for (int g = 0; g < groups; ++g) std::memcpy(sum + g * lanes, &s[g], sizeof(V));
  for (; l < k; ++l)
    for (int i = 0; i < groups * lanes; ++i) sum[i] = std::fma(row[i][l], x[l], sum[i]);
}

/// sum_i = the chain over l of a[l ld + i] x[l], i < m.
template <class T, int width>
[[gnu::always_inline]] inline void chain_columns(Index m, Index k, const T* a, Index ld, const T* x,
                                                 T* sum) {
  using V = typename Vector<width, T>::type;
  constexpr int lanes = width / sizeof(T), terms = 8;
  std::fill_n(sum, m, T(0));
  const auto add = [&]<int n>(Index l) __attribute__((always_inline)) {
    const T* const rows = a + l * ld;
    Index i = 0;
    for (; i + lanes <= m; i += lanes) {
      V s = *reinterpret_cast<const V*>(sum + i);
#pragma GCC unroll 8
      for (int j = 0; j < n; ++j)
        add_product<T>(s, *reinterpret_cast<const V*>(rows + j * ld + i), x[l + j] - V{});
      *reinterpret_cast<V*>(sum + i) = s;
    }
    for (; i < m; ++i)
      for (int j = 0; j < n; ++j) sum[i] = std::fma(rows[j * ld + i], x[l + j], sum[i]);
  };
  Index l = 0;
  for (; l + terms <= k; l += terms) add.template operator()<terms>(l);
  for (; l < k; ++l) add.template operator()<1>(l);
}

template <class T>
[[gnu::target("avx2,fma")]] void chain_columns_narrow(Index m, Index k, const T* a, Index ld,
                                                      const T* x, T* sum) {
  chain_columns<T, 32>(m, k, a, ld, x, sum);
}
template <class T>
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] void chain_columns_wide(
    Index m, Index k, const T* a, Index ld, const T* x, T* sum) {
  chain_columns<T, 64>(m, k, a, ld, x, sum);
}

/// The p-th run's sum joins y.
template <class T>
void join(bool first, T alpha, T sum, T beta, T& y) {
  const T s = alpha * sum;
  y = !first ? y + s : beta == T(0) ? s : beta * y + s;
}

template <class T>
void run(int width, Index m, Index k, T alpha, Matrix<T> a, const T* x, T beta, T* y,
         Index stride_y) {
  if (a.transposed) {
    constexpr Index strip = 16384 / sizeof(T);
    alignas(64) T sum[strip];
    for (Index begin = 0; begin < m; begin += strip)
      for (Index depth = 0; depth < k; depth += kDepth<T>) {
        const Index count = std::min(strip, m - begin);
        const bool wide =
            width == 64 && count * Index{sizeof(T)} >= 128;  // of fewer most would be a rest
        (wide ? chain_columns_wide<T>
              : chain_columns_narrow<T>)(count, std::min(kDepth<T>, k - depth), a.at(begin, depth),
                                         a.ld, x + depth, sum);
        for (Index i = 0; i < count; ++i)
          join(depth == 0, alpha, sum[i], beta, y[(begin + i) * stride_y]);
      }
    return;
  }
  constexpr int lanes = 32 / sizeof(T), groups = 4;
  for (Index begin = 0; begin < m;) {
    const int count = static_cast<int>(std::min<Index>(groups * lanes, m - begin));
    const bool few = count <= lanes;
    for (Index depth = 0; depth < k; depth += kDepth<T>) {
      const T* row[groups * lanes];
      alignas(64) T sum[groups * lanes];
      for (int i = 0; i < (few ? lanes : groups * lanes); ++i)
        row[i] = a.at(begin + std::min(i, count - 1), depth);
      (few ? chain_rows<T, 1> : chain_rows<T, groups>)(row, std::min(kDepth<T>, k - depth),
                                                       x + depth, sum);
      for (int i = 0; i < count; ++i)
        join(depth == 0, alpha, sum[i], beta, y[(begin + i) * stride_y]);
    }
    begin += count;
  }
}

/// m = 1, elements of A and x `sa` and `sx` apart: the chains of four runs side by side.
template <class T>
[[gnu::target("avx2,fma")]] void dot(Index k, T alpha, const T* a, Index sa, const T* x, Index sx,
                                     T beta, T& y) {
  constexpr Index depth = kDepth<T>;
  Index at = 0;
  for (; at + 4 * depth <= k; at += 4 * depth) {
    T s[4] = {};
    for (Index l = at; l < at + depth; ++l)
#pragma GCC unroll 4
      for (Index r = 0; r < 4; ++r)
        s[r] = std::fma(a[(l + r * depth) * sa], x[(l + r * depth) * sx], s[r]);
    for (Index r = 0; r < 4; ++r) join(at + r == 0, alpha, s[r], beta, y);
  }
  for (; at < k; at += depth) {
    T s = 0;
    for (Index l = at; l < std::min(k, at + depth); ++l) s = std::fma(a[l * sa], x[l * sx], s);
    join(at == 0, alpha, s, beta, y);
  }
}

}  // namespace

template <class T>
void gemv_blocked(int width, Index m, Index k, T alpha, Matrix<T> a, const T* x, Index stride_x,
                  T beta, T* y, Index stride_y) {
  if (m == 1) return dot(k, alpha, a.data, a.transposed ? a.ld : Index{1}, x, stride_x, beta, *y);
  thread_local std::vector<T> together;
  if (stride_x != 1) {
    together.resize(
        static_cast<std::size_t>(std::max<Index>(k, static_cast<Index>(together.size()))));
    for (Index l = 0; l < k; ++l) together[static_cast<std::size_t>(l)] = x[l * stride_x];
    x = together.data();
  }
  run(width, m, k, alpha, a, x, beta, y, stride_y);
}
template void gemv_blocked<float>(int, Index, Index, float, Matrix<float>, const float*, Index,
                                  float, float*, Index);
template void gemv_blocked<double>(int, Index, Index, double, Matrix<double>, const double*, Index,
                                   double, double*, Index);

}  // namespace tessera::kernels
