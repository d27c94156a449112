// SPDX-License-Identifier: Apache-2.0
//
// A loop that tests of scans and checkpoints share, and how they compare.
#pragma once
#include "error_text.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::testing {

/// Largest difference relative to the largest element of b, at least 1.
inline double distance(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return INFINITY;
  return a.size() ? (max(abs(a - b)) / maximum(max(abs(b)), 1.0)).item() : 0;
}
/// Driven rotation of a vector [2] by a matrix [2,2]: every kind of operand has a derivative.
struct Driven {
  Tensor a, x0, u;
  TESSERA_TREE(a, x0, u)
};
inline Driven driven(Index n = 7) {
  return {tensor({0.8, 0.3, -0.4, 0.9}, {2, 2}), tensor({0.5, -1.0}),
          reshape(sin(arange(2 * n, Dtype::f64)), {n, 2})};
}
inline Tensor by_scan(const Driven& d, const ScanOptions& o = {}) {
  const auto [x, y] = scan(
      [&](Tensor x, Tensor u) {
        const Tensor next = tanh(matmul(d.a, x)) + 0.5 * u * x;
        return std::pair(next, sum(next * u));
      },
      d.x0, d.u, o);
  return sum(square(x)) + sum(y * sin(y));
}
inline Tensor unrolled(const Driven& d, bool reverse = false) {
  Tensor x = d.x0, total = zeros({});
  const Index n = d.u.dim(0);
  for (Index t = 0; t < n; ++t) {
    const Tensor u = select(d.u, 0, reverse ? n - 1 - t : t);
    x = tanh(matmul(d.a, x)) + 0.5 * u * x;
    const Tensor y = sum(x * u);
    total = total + y * sin(y);
  }
  return sum(square(x)) + total;
}
inline void expect_near(const Driven& a, const Driven& b, double tolerance) {
  const auto x = flatten_tree(a), y = flatten_tree(b);
  for (std::size_t k = 0; k < x.size(); ++k)
    EXPECT_LE(distance(x[k], y[k]), tolerance) << "leaf " << k;
}
inline Driven direction(const Driven& like) {
  Driven t = like;
  double phase = 0.3;
  Tree<Driven>::visit(t, [&](Tensor& x) {
    x = reshape(cos(arange(x.size(), Dtype::f64) * 1.7 + (phase += 0.9)), x.shape());
  });
  return t;
}

}  // namespace tessera::testing
