// SPDX-License-Identifier: Apache-2.0
//
// Rows of general eigenvalues, held to their defining equations in long double, and of the matrix
// exponential.
#include "op_table.h"
#include "tessera/autodiff/ops/matrix_functions.h"

#include <cmath>

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;

/// A stack of two matrices whose eigenvalues are well apart and whose eigenvectors have one largest
/// component.
Tensor separated_matrices(Dtype t, Index n, Rng& rng) {
  Array a = to_array(uniform_tensor(t, {2, n, n}, rng));
  if (!is_inexact(t)) return to_tensor(a, t);
  for (Index q = 0; q < 2; ++q)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        a.at(q, i, j) =
            0.25L * a.at(q, i, j) + (i == j ? 0.7L * static_cast<long double>(i) : 0.0L);
  return to_tensor(a, t);
}
/// |A V - V w| + |W^H A - w W^H| + |W^H V - 1| + departures from order and normalisation.
double defect(const Tensors& x, const Tensors& y) {
  const Array a = to_array(x[0]), w = to_array(y[0]), v = to_array(y[1]), u = to_array(y[2]);
  const Index n = a.rows();
  long double worst = 0;
  for (Index q = 0; q < a.batch(); ++q)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        Wide av = -v.at(q, i, j) * w[q * n + j], ua = -std::conj(u.at(q, i, j)) * w[q * n + j],
             uv = i == j ? -1 : 0;
        long double length = -1, largest = 0;
        for (Index k = 0; k < n; ++k) {
          av += a.at(q, i, k) * v.at(q, k, j);
          ua += std::conj(u.at(q, k, j)) * a.at(q, k, i);
          uv += std::conj(u.at(q, k, i)) * v.at(q, k, j);
          length += std::norm(v.at(q, k, j));
          largest = std::max(largest, std::abs(v.at(q, k, j)));
        }
        worst = std::max({worst, std::abs(av), std::abs(ua), std::abs(uv), std::abs(length)});
        if (std::abs(v.at(q, i, j)) == largest &&
            (v.at(q, i, j).imag() != 0 || v.at(q, i, j).real() < 0))
          worst = INFINITY;
        if (j && w[q * n + j].real() < w[q * n + j - 1].real()) worst = INFINITY;
      }
  return static_cast<double>(worst);
}

/// sum A^k / k!
std::vector<Array> exponential(const std::vector<Array>& in) {
  const Array& a = in[0];
  Array power(a.shape), total(a.shape);
  for (Index q = 0; q < a.batch(); ++q)
    for (Index i = 0; i < a.rows(); ++i) total.at(q, i, i) = power.at(q, i, i) = 1;
  for (int k = 1; k < 120; ++k) {
    Array next(a.shape);
    for (Index q = 0; q < a.batch(); ++q)
      for (Index i = 0; i < a.rows(); ++i)
        for (Index j = 0; j < a.rows(); ++j) {
          for (Index l = 0; l < a.rows(); ++l)
            next.at(q, i, j) += power.at(q, i, l) * a.at(q, l, j) / static_cast<long double>(k);
          total.at(q, i, j) += next.at(q, i, j);
        }
    power = next;
  }
  return {total};
}

}  // namespace

void eig_rows(std::vector<Row>& rows) {
  rows.push_back(
      {.primitive = "eig",
       .dtypes = kInexact,
       .inputs = [](Dtype t, Index n, Rng& rng) { return Tensors{separated_matrices(t, n, rng)}; },
       .f =
           [](const Tensors& x) {
             const Eig e = eig(x[0]);
             return Tensors{e.values, e.vectors, e.left};
           },
       .tolerance = 64,
       .property = defect,
       .large = 40,
       .derivative_tolerance = 1e-6});
  // Norms around 18: two squarings. The condition of the exponential is about the norm.
  rows.push_back({.primitive = "while",
                  .variant = "expm",
                  .dtypes = kInexact,
                  .inputs = [](Dtype t, Index n,
                               Rng& rng) { return Tensors{6.0 * separated_matrices(t, n, rng)}; },
                  .f = [](const Tensors& x) { return Tensors{expm(x[0])}; },
                  .oracle = exponential,
                  .tolerance = 128,
                  .large = 40});
}

}  // namespace tessera::table
