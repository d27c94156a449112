// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `det`: the determinant by expansion in minors, and its gradient.
//
// Row by row, D_k(S) is the minor of the first k rows and the k columns S:
//   D_k(S) = sum_{j in S} (-1)^(k - 1 + position of j in S) A[k-1, j] D_{k-1}(S - j).
// Each minor is computed once, all of one size in one gather, product and sum: n 2^(n-1) products
// in place of n!.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "verify.h"

#include <bit>

using namespace tessera;

namespace {

Tensor determinant(const Tensor& a) {
  const Index n = a.dim(0);
  std::vector<Index> number(std::size_t{1} << n, 0);  // of a set among those of its size
  Tensor minors = ones({1});
  for (Index k = 1; k <= n; ++k) {
    std::vector<std::int64_t> column, smaller;
    std::vector<double> sign;
    Index sets = 0;
    for (unsigned s = 0; s < 1u << n; ++s) {
      if (std::popcount(s) != k) continue;
      number[s] = sets++;
      Index position = 0;
      for (Index j = 0; j < n; ++j) {
        if (!(s >> j & 1)) continue;
        column.push_back(j);
        smaller.push_back(number[s & ~(1u << j)]);
        sign.push_back((k - 1 + position++) % 2 == 0 ? 1 : -1);
      }
    }
    const Shape shape{sets, k};
    minors = sum(tensor(sign, shape) * gather(select(a, 0, k - 1), tensor(column, shape)) *
                     gather(minors, tensor(smaller, shape)),
                 {1});
  }
  return reshape(minors, {});
}

/// Expansion along the first row, recursively, on rows from `row` on and the columns left.
template <class T>
T expanded(const std::vector<T>& a, std::size_t n, std::size_t row,
           const std::vector<std::size_t>& columns) {
  if (columns.size() == 1) return a[row * n + columns[0]];
  T det(0.0);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::vector<std::size_t> rest = columns;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
    const T term = a[row * n + columns[j]] * expanded(a, n, row + 1, rest);
    det = j % 2 == 0 ? det + term : det - term;
  }
  return det;
}

}  // namespace

int main() {
  bool ok = true;
  for (const std::size_t n : {1u, 2u, 5u, 7u}) {
    std::mt19937_64 rng(1);
    const auto v = gradbench::uniform(n * n, rng, -1, 1);
    const Tensor a = tensor(v, {static_cast<Index>(n), static_cast<Index>(n)});
    const auto step = jit([](Tensor a) { return value_and_grad(determinant)(a); });
    const auto [d, g] = step(a);
    std::vector<std::size_t> all(n);
    for (std::size_t j = 0; j < n; ++j) all[j] = j;
    const auto plain = [&](const auto& x) { return expanded(x, n, 0, all); };
    ok &= gradbench::close("primal", {d.item()}, {plain(v)}) &
          gradbench::close("gradient", flatten(g).to_vector(),
                           gradbench::complex_step_gradient(plain, v));
  }
  std::mt19937_64 rng(2);
  const Tensor big = tensor(gradbench::uniform(144, rng, -1, 1),
                            {12, 12});  // 12! = 479 million terms; adj(A)^T is the gradient
  const auto [d, g] = value_and_grad(determinant)(big);
  ok &= gradbench::close("primal, n = 12", {d.item()}, {det(big).item()});
  ok &= gradbench::close("gradient, n = 12", flatten(g).to_vector(),
                         flatten(det(big) * transpose(inv(big))).to_vector());
  return ok ? 0 : 1;
}
