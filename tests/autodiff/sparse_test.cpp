// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices as users call them: patterns and their checks, conversions, and derivatives in
// the values.
#include "tessera/autodiff/ops/sparse.h"

#include "error_text.h"
#include "tensor_measures.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::difference;
using testing::message_of;

/// [[1, 0, 2], [0, 0, 0], [0, 3, 4]].
CsrPatternPtr small() { return csr_pattern(3, 3, {0, 2, 2, 4}, {0, 2, 1, 2}); }

TEST(Sparse, PatternsAreChecked) {
  EXPECT_NE(message_of([] { csr_pattern(2, 2, {0, 1}, {0}); }).find("2 rows"), std::string::npos);
  EXPECT_NE(message_of([] {
              csr_pattern(2, 2, {0, 2, 1}, {0});
            }).find("falls at row 1"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              csr_pattern(2, 2, {0, 1, 3}, {0, 0});
            }).find("from 0 to 3"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              csr_pattern(1, 2, {0, 1}, {2});
            }).find("column 2 of 2"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              csr_pattern(1, 3, {0, 2}, {1, 1});
            }).find("row 0 do not rise"),
            std::string::npos);
  EXPECT_NE(message_of([] { csr_matmul(ones({3}), small(), ones({3})); }).find("4 entries"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              csr_from_coo(2, 2, std::vector<Index>{0, 2}, std::vector<Index>{0, 0});
            }).find("triplet 1"),
            std::string::npos);
  EXPECT_NE(message_of([] { csr_from_coo(-5, 2, {}, {}); }).find("-5 x 2"), std::string::npos);
}

TEST(Sparse, ConversionsAgreeWithTheDenseMatrix) {
  const Tensor v = tensor({1.0, 2.0, 3.0, 4.0});
  const Tensor a = csr_to_dense(v, small());
  EXPECT_EQ(difference(a, tensor({1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0}, {3, 3})), 0);
  EXPECT_EQ(difference(csr_from_dense(a, small()), v), 0);
  EXPECT_EQ(difference(csr_diagonal(v, small()), tensor({1.0, 0.0, 4.0})), 0);
  const Tensor s = tensor({2.0, 3.0, 5.0});
  EXPECT_EQ(difference(csr_to_dense(csr_scale_rows(v, small(), s), small()), a * expand_dims(s, 1)),
            0);
  EXPECT_EQ(difference(csr_matmul(v, small(), s), matmul(a, s)), 0);
  EXPECT_EQ(difference(csr_matmul(v, small(), s, true), matmul(transpose(a), s)), 0);
}

TEST(Sparse, TripletsOfOnePlaceAreAddedAndDifferentiated) {
  const std::vector<Index> row{2, 0, 2, 0, 2}, column{2, 2, 1, 0, 2};
  const CooPattern coo = csr_from_coo(3, 3, row, column);
  EXPECT_TRUE(*coo.pattern == *small());
  const Tensor t = tensor({1.5, 2.0, 3.0, 1.0, 2.5});
  EXPECT_EQ(difference(csr_values(coo, t), tensor({1.0, 2.0, 3.0, 4.0})), 0);
  EXPECT_EQ(difference(csr_values(coo, stack({t, 2.0 * t})),
                       tensor({1.0, 2.0, 3.0, 4.0, 2.0, 4.0, 6.0, 8.0}, {2, 4})),
            0);
  // Both halves of the doubled entry move the result alike.
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const Tensor g = grad(
      [&](Tensor u) { return sum(square(csr_matmul(csr_values(coo, u), coo.pattern, x))); })(t);
  EXPECT_EQ(g.to_vector()[0], g.to_vector()[4]);
  EXPECT_EQ(difference(g, tensor({108.0, 42.0, 72.0, 14.0, 108.0})), 0);
}

TEST(Sparse, DerivativesOfAnyOrderEqualTheDenseOnes) {
  // f = sum (A(v) A(v)^T x)^3 has third derivatives in v; the dense matrix masked to the pattern is
  // the oracle.
  const CsrPatternPtr p = small();
  const Tensor v = tensor({0.5, -1.0, 2.0, 0.7}), x = tensor({1.0, -0.5, 0.3}),
               t = tensor({0.3, 0.1, -0.2, 0.4});
  const auto sparse = [&](Tensor u) {
    return sum(pow(csr_matmul(u, p, csr_matmul(u, p, x, true)), 3.0));
  };
  const auto full = [&](Tensor u) {
    const Tensor a = csr_to_dense(u, p);
    return sum(pow(matmul(a, matmul(transpose(a), x)), 3.0));
  };
  EXPECT_LE(difference(hessian(sparse)(v), hessian(full)(v)), 1e-13);
  const auto third = [&](auto f) {
    return grad([f, t](Tensor u) { return sum(hvp(f, u, t) * t); })(v);
  };
  EXPECT_LE(difference(third(sparse), third(full)), 1e-12);
}

}  // namespace
}  // namespace tessera
