// SPDX-License-Identifier: Apache-2.0
// Matrix products against a plain loop in long double, for every type, transposition and kind of
// shape, and the promise that the number of threads does not change a bit.
#include "autodiff/src/kernels/gemm.h"

#include "autodiff/src/kernels/gemm_blocked.h"
#include "tessera/autodiff/forall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace kernels = tessera::kernels;
using Index = std::int64_t;

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};

template <class T>
std::vector<T> random_values(Index n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> of_either_sign(-2, 2);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) {
    if constexpr (std::is_floating_point_v<T>)
      v = static_cast<T>(of_either_sign(random));
    else
      v = {static_cast<typename T::value_type>(of_either_sign(random)),
           static_cast<typename T::value_type>(of_either_sign(random))};
  }
  return x;
}

using Wide = std::complex<long double>;
template <class T>
Wide widen(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return {x, 0};
  else
    return {x.real(), x.imag()};
}

template <class T>
class Gemm : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Gemm, Types);

struct Shape {
  Index m, n, k;
};

template <class T>
void check(Shape s, bool ta, bool tb, T alpha, T beta) {
  const Index lda = (ta ? s.m : s.k) + 3, ldb = (tb ? s.k : s.n) + 1, ldc = s.n + 2;
  const auto a = random_values<T>((ta ? s.k : s.m) * lda, 1),
             b = random_values<T>((tb ? s.n : s.k) * ldb, 2);
  auto c = random_values<T>(s.m * ldc, 3);
  const auto before = c;
  kernels::gemm<T>(ta, tb, s.m, s.n, s.k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
  const double eps = std::numeric_limits<typename RealOf<T>::type>::epsilon();
  for (Index i = 0; i < s.m; ++i) {
    for (Index j = 0; j < s.n; ++j) {
      Wide sum = 0;
      long double size = 0;
      for (Index l = 0; l < s.k; ++l) {
        const Wide x =
            widen(a[ta ? l * lda + i : i * lda + l]) * widen(b[tb ? j * ldb + l : l * ldb + j]);
        sum += x;
        size += std::abs(x);
      }
      const Wide expected = widen(alpha) * sum + widen(beta) * widen(before[i * ldc + j]);
      // k products and sums, each rounded once (complex ones four times), and the last two steps
      const double bound =
          eps * static_cast<double>((2 * s.k + 4) * std::abs(widen(alpha)) * size +
                                    4 * std::abs(widen(beta) * widen(before[i * ldc + j])));
      ASSERT_LE(static_cast<double>(std::abs(widen(c[i * ldc + j]) - expected)), bound)
          << s.m << "x" << s.n << "x" << s.k << " " << ta << tb << " at " << i << "," << j;
    }
    for (Index j = s.n; j < ldc; ++j)
      ASSERT_EQ(c[i * ldc + j], before[i * ldc + j]) << "wrote between rows";
  }
}

TYPED_TEST(Gemm, MatchesThePlainLoop) {
  using T = TypeParam;
  for (Shape s : {Shape{1, 1, 1}, Shape{3, 5, 2}, Shape{8, 8, 8}, Shape{9, 7, 11}, Shape{1, 40, 33},
                  Shape{40, 1, 33}, Shape{65, 33, 17}, Shape{5, 4, 3000}, Shape{130, 120, 70},
                  Shape{2, 3, 0}, Shape{0, 3, 4}})
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        check<T>(s, ta, tb, T(1), T(0));
        check<T>(s, ta, tb, T(-0.5), T(2));
      }
}

TYPED_TEST(Gemm, BetaZeroDoesNotReadC) {
  using T = TypeParam;
  for (Index n : {4, 40}) {
    const auto a = random_values<T>(n * n, 1);
    std::vector<T> c(static_cast<std::size_t>(n * n), T(std::numeric_limits<double>::quiet_NaN()));
    kernels::gemm<T>(false, false, n, n, n, T(1), a.data(), n, a.data(), n, T(0), c.data(), n);
    for (const T& v : c) ASSERT_EQ(v, v);
    std::fill(c.begin(), c.end(), T(std::numeric_limits<double>::quiet_NaN()));
    kernels::gemm<T>(false, false, n, n, 0, T(1), a.data(), n, a.data(), n, T(0), c.data(), n);
    for (const T& v : c) ASSERT_EQ(v, T(0));
  }
}

// OpenBLAS itself gives other bits on two threads than on one; tiles fixed by the shape do not.
TYPED_TEST(Gemm, BitsDoNotDependOnThreads) {
  using T = TypeParam;
  const int before = tessera::num_threads();
  for (Shape s : {Shape{300, 280, 260}, Shape{20, 30, 20000}, Shape{600, 1, 900},
                  Shape{1, 700, 800}, Shape{97, 1000, 64}}) {
    const auto a = random_values<T>(s.m * s.k, 1), b = random_values<T>(s.k * s.n, 2);
    std::vector<std::vector<T>> c;
    for (int threads : {1, 2, 4}) {
      tessera::set_num_threads(threads);
      c.emplace_back(static_cast<std::size_t>(s.m * s.n));
      kernels::gemm<T>(false, false, s.m, s.n, s.k, T(1), a.data(), s.k, b.data(), s.n, T(0),
                       c.back().data(), s.n);
    }
    // inside a parallel region too
    std::vector<std::vector<T>> inner(3, std::vector<T>(static_cast<std::size_t>(s.m * s.n)));
    tessera::parallel_chunks(3, [&](Index i) {
      kernels::gemm<T>(false, false, s.m, s.n, s.k, T(1), a.data(), s.k, b.data(), s.n, T(0),
                       inner[static_cast<std::size_t>(i)].data(), s.n);
    });
    c.insert(c.end(), inner.begin(), inner.end());
    for (std::size_t i = 1; i < c.size(); ++i)
      EXPECT_EQ(std::memcmp(c[0].data(), c[i].data(), c[0].size() * sizeof(T)), 0)
          << "run " << i << " of " << s.m << "x" << s.n << "x" << s.k;
  }
  tessera::set_num_threads(before);
}

TYPED_TEST(Gemm, BatchesHaveTheBitsOfSingleProducts) {
  using T = TypeParam;
  const Index batch = 37;
  for (Shape s : {Shape{3, 4, 5}, Shape{33, 20, 18}}) {
    const auto a = random_values<T>(batch * s.m * s.k, 1),
               b = random_values<T>(batch * s.k * s.n, 2);
    for (Index stride_b : {Index{0}, s.k * s.n}) {
      std::vector<T> c(static_cast<std::size_t>(batch * s.m * s.n)),
          one(static_cast<std::size_t>(s.m * s.n));
      kernels::gemm_batched<T>(batch, false, false, s.m, s.n, s.k, T(1), a.data(), s.k, s.m * s.k,
                               b.data(), s.n, stride_b, T(0), c.data(), s.n, s.m * s.n);
      for (Index i = 0; i < batch; ++i) {
        kernels::gemm<T>(false, false, s.m, s.n, s.k, T(1), a.data() + i * s.m * s.k, s.k,
                         b.data() + i * stride_b, s.n, T(0), one.data(), s.n);
        EXPECT_EQ(std::memcmp(one.data(), c.data() + i * s.m * s.n, one.size() * sizeof(T)), 0)
            << "matrix " << i;
      }
    }
  }
}

template <class T>
class GemmBlocked : public testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmBlocked, RealTypes);

/// Element (i, j) of alpha op(A) op(B) + beta C by a plain loop: one fused rounding a term, in
/// order, in runs of kDepth that are added in order.
template <class T>
T chain(kernels::Matrix<T> a, kernels::Matrix<T> b, Index i, Index j, Index k, T alpha, T beta,
        T c) {
  const Index depth = kernels::kDepth<T>;
  for (Index begin = 0; begin < k; begin += depth) {
    T sum = 0;
    for (Index l = begin; l < std::min(k, begin + depth); ++l)
      sum = std::fma(a(i, l), b(l, j), sum);
    c = begin ? c + alpha * sum : beta == T(0) ? alpha * sum : beta * c + alpha * sum;
  }
  return c;
}

/// A product of random matrices in one of four layouts, rows further apart than they are long.
template <class T>
struct Product {
  Shape s;
  bool ta, tb;
  Index lda = (ta ? s.m : s.k) + 2, ldb = (tb ? s.k : s.n) + 1, ldc = s.n + 3;
  std::vector<T> a = random_values<T>((ta ? s.k : s.m) * lda, 1),
                 b = random_values<T>((tb ? s.n : s.k) * ldb, 2),
                 before = random_values<T>(s.m * ldc, 3);
  kernels::Matrix<T> x{a.data(), lda, ta}, y{b.data(), ldb, tb};

  void expect_chains(const std::vector<T>& c, T alpha, T beta, const std::string& what) const {
    // all elements of small products, a few of each row and column of large ones
    const Index step_i = s.m * s.n * s.k > 3000000 ? 17 : 1,
                step_j = s.m * s.n * s.k > 3000000 ? 13 : 1;
    for (Index i = 0; i < s.m; i += step_i) {
      for (Index j = i % step_j; j < s.n; j += step_j) {
        const auto at = static_cast<std::size_t>(i * ldc + j);
        const T expected = chain(x, y, i, j, s.k, alpha, beta, before[at]);
        ASSERT_EQ(std::memcmp(&c[at], &expected, sizeof(T)), 0)
            << s.m << "x" << s.n << "x" << s.k << " " << ta << tb << " at " << i << "," << j << " "
            << what;
      }
      for (Index j = s.n; j < ldc; ++j)
        ASSERT_EQ(c[static_cast<std::size_t>(i * ldc + j)],
                  before[static_cast<std::size_t>(i * ldc + j)])
            << "wrote between rows";
    }
  }
};

TYPED_TEST(GemmBlocked, IsTheChainOfFusedTermsInVectorsOfAnyWidth) {
  using T = TypeParam;
  if (kernels::blocked_widths().empty()) GTEST_SKIP() << "a processor without AVX2";
  const Index depth = kernels::kDepth<T>;
  // one tile and many, whole ones and rests in all three directions, with and without packing of
  // either matrix
  for (Shape s :
       {Shape{2, 2, 1}, Shape{5, 7, 3}, Shape{14, 32, 20}, Shape{15, 33, 17}, Shape{6, 16, 9},
        Shape{31, 300, 40}, Shape{90, 45, depth + 19}, Shape{3, 270, 2 * depth},
        Shape{60, 70, 4096 / Index{sizeof(T)}}, Shape{101, 600, 30}})
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        const Product<T> p{s, ta, tb};
        for (const auto& [alpha, beta] : {std::pair<T, T>{1, 0}, {T(-0.7), T(1.3)}})
          for (int width : kernels::blocked_widths()) {
            auto c = p.before;
            kernels::gemm_blocked<T>(width, s.m, s.n, s.k, alpha, p.x, p.y, beta, c.data(), p.ldc);
            p.expect_chains(c, alpha, beta, "in " + std::to_string(width) + " bytes");
          }
      }
}

// A matrix and a vector, a row and a matrix, two vectors: the same chain.
TYPED_TEST(GemmBlocked, AProductWithAVectorIsTheSameChain) {
  using T = TypeParam;
  if (kernels::blocked_widths().empty()) GTEST_SKIP() << "a processor without AVX2";
  const Index depth = kernels::kDepth<T>;
  for (Index m : {1, 2, 3, 7, 8, 9, 16, 31, 33, 70, 5000})
    for (Index k : {Index{1}, Index{2}, Index{7}, Index{16}, Index{33}, depth - 1, depth, depth + 5,
                    4 * depth, 9 * depth + 3}) {
      if (m * k > 2000000) continue;
      for (bool ta : {false, true})
        for (const auto& [alpha, beta] : {std::pair<T, T>{1, 0}, {T(-0.7), T(1.3)}}) {
          const Product<T> p{{m, 1, k}, ta, false};
          for (int width : kernels::blocked_widths()) {
            auto c = p.before;
            kernels::gemv_blocked<T>(width, m, k, alpha, p.x, p.b.data(), p.ldb, beta, c.data(),
                                     p.ldc);
            p.expect_chains(c, alpha, beta, "in " + std::to_string(width) + " bytes");
          }
        }
    }
}

// Rows, columns, tiles, splits of long sums, threads: nothing but the row and the column decides an
// element's bits.
TYPED_TEST(GemmBlocked, AnElementFollowsFromItsRowAndColumnAlone) {
  using T = TypeParam;
  if (kernels::blocked_widths().empty()) GTEST_SKIP() << "a processor without AVX2";
  const int before = tessera::num_threads();
  for (Shape s :
       {Shape{1, 1, 1}, Shape{3, 3, 3}, Shape{1, 1, 5}, Shape{1, 1, 100000}, Shape{1, 1, 600000},
        Shape{2, 1, 300000}, Shape{4, 5, 40000}, Shape{20, 30, 20000}, Shape{95, 90, 3000},
        Shape{1, 300, 700}, Shape{300, 1, 700}, Shape{600, 1, 2000}, Shape{1, 2500, 2000},
        Shape{300, 280, 260}, Shape{97, 1000, 64}})
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        const Product<T> p{s, ta, tb};
        for (const auto& [alpha, beta] : {std::pair<T, T>{1, 0}, {T(-0.7), T(1.3)}}) {
          std::vector<T> alone;
          for (int threads : {1, 3}) {
            tessera::set_num_threads(threads);
            auto c = p.before;
            kernels::gemm<T>(ta, tb, s.m, s.n, s.k, alpha, p.a.data(), p.lda, p.b.data(), p.ldb,
                             beta, c.data(), p.ldc);
            if (threads == 1)
              p.expect_chains(alone = c, alpha, beta, "one thread");
            else
              EXPECT_EQ(std::memcmp(c.data(), alone.data(), c.size() * sizeof(T)), 0)
                  << s.m << "x" << s.n << "x" << s.k << " " << ta << tb << " " << threads;
          }
        }
      }
  tessera::set_num_threads(before);
}

}  // namespace
