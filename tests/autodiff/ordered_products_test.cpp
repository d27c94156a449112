// SPDX-License-Identifier: Apache-2.0
//
// Products of real arrays: a row, a column and a member of a stack have the bits that they have
// alone, so that work may be cut anywhere; lines of Fourier transforms too.
#include "same_bits.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"
#include "tessera/autodiff/vectors.h"

#include <gtest/gtest.h>

#include <array>

using namespace tessera;

namespace {

Tensor sines(const Shape& s, double step, Dtype t) {
  return reshape(cast(sin(step * arange(s.count(), Dtype::f64)), t), s);
}

void expect_parts(Index m, Index n, Index k, Dtype t) {
  const Tensor a = sines({m, k}, 0.7, t), b = sines({k, n}, 1.1, t);
  // as they lie, and of transposed memory
  for (const Tensor& x : {a, transpose(contiguous(transpose(a)))})
    for (const Tensor& y : {b, transpose(contiguous(transpose(b)))}) {
      const Tensor whole = matmul(x, y);
      for (Index i : {Index{0}, m / 2, m - 1}) {
        EXPECT_TRUE(same_bits(slice(whole, 0, i, i + 1), matmul(slice(x, 0, i, i + 1), y)))
            << "row of " << m << "x" << n << "x" << k;
        EXPECT_TRUE(same_bits(squeeze(slice(whole, 0, i, i + 1), 0),
                              matmul(squeeze(slice(x, 0, i, i + 1), 0), y)))
            << "vector times matrix";
      }
      for (Index j : {Index{0}, n / 2, n - 1}) {
        EXPECT_TRUE(same_bits(slice(whole, 1, j, j + 1), matmul(x, slice(y, 1, j, j + 1))))
            << "column of " << m << "x" << n << "x" << k;
        EXPECT_TRUE(same_bits(squeeze(slice(whole, 1, j, j + 1), 1),
                              matmul(x, squeeze(slice(y, 1, j, j + 1), 1))))
            << "matrix times vector";
      }
      EXPECT_TRUE(
          same_bits(slice(whole, 0, 0, (m + 1) / 2), matmul(slice(x, 0, 0, (m + 1) / 2), y)))
          << "half of the rows";
    }
}

}  // namespace

TEST(OrderedProducts, RowsAndColumnsHaveTheBitsThatTheyHaveAlone) {
  if (vector_bits() < 256) GTEST_SKIP() << "a processor without AVX2: products by BLAS";
  for (Dtype t : {Dtype::f64, Dtype::f32})
    for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 1},
                                  {2, 3, 4},
                                  {7, 5, 1000},
                                  {33, 17, 64},
                                  {20, 30, 5000},
                                  {60, 50, 2100},
                                  {3, 200, 900},
                                  {200, 3, 900},
                                  {300, 280, 130}})
      expect_parts(m, n, k, t);
}

TEST(OrderedProducts, AMemberOfAStackHasTheBitsThatItHasAlone) {
  if (vector_bits() < 256) GTEST_SKIP() << "a processor without AVX2: products by BLAS";
  for (Dtype t : {Dtype::f64, Dtype::f32})
    for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 700},
                                  {1, 40, 50},
                                  {40, 1, 50},
                                  {12, 20, 1500},
                                  {70, 80, 60}}) {
      const Index batch = 5;
      const Tensor a = sines({batch, m, k}, 0.7, t), b = sines({batch, k, n}, 1.1, t),
                   one = sines({k, n}, 0.3, t);
      const Tensor stacks = matmul(a, b), shared = matmul(a, one);
      const Tensor mapped = vmap([](Tensor x, Tensor y) { return matmul(x, y); })(a, b);
      EXPECT_TRUE(same_bits(stacks, mapped));
      for (Index i = 0; i < batch; ++i) {
        const auto member = [&](const Tensor& x) { return squeeze(slice(x, 0, i, i + 1), 0); };
        EXPECT_TRUE(same_bits(member(stacks), matmul(member(a), member(b))))
            << m << "x" << n << "x" << k;
        EXPECT_TRUE(same_bits(member(shared), matmul(member(a), one)))
            << m << "x" << n << "x" << k << ", one matrix for all";
      }
    }
}

// Fourier transforms: lines of a stack. Several axes at once are one plan, equal to one axis after
// the other up to roundings alone.
TEST(OrderedTransforms, ALineHasTheBitsThatItHasAlone) {
  for (Index n : {1, 2, 3, 8, 30, 64, 127, 1000})
    for (Dtype t : {Dtype::f64, Dtype::f32}) {
      const Tensor x = sines({5, n}, 0.7, t), z = complex(x, sines({5, n}, 1.3, t));
      for (Index i = 0; i < 5; ++i) {
        const auto line = [&](const Tensor& a) { return squeeze(slice(a, 0, i, i + 1), 0); };
        EXPECT_TRUE(same_bits(line(fft(z)), fft(line(z)))) << n;
        EXPECT_TRUE(same_bits(line(ifft(z)), ifft(line(z)))) << n;
        EXPECT_TRUE(same_bits(line(rfft(x)), rfft(line(x)))) << n;
        EXPECT_TRUE(same_bits(line(irfft(rfft(x), n)), irfft(rfft(line(x)), n))) << n;
      }
    }
}
