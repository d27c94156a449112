// SPDX-License-Identifier: Apache-2.0
//
// Rows of products and decompositions. Products have loops; decompositions are held to their
// defining equations, evaluated in long double.
#include "op_table.h"
#include "tessera/autodiff/ops/tridiagonal.h"

#include <algorithm>

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

Array product(const Array& a, const Array& b) {
  Shape s = a.shape;
  s[s.size() - 1] = b.cols();
  Array y(s);
  for (Index q = 0; q < y.batch(); ++q)
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < b.cols(); ++j)
        for (Index k = 0; k < a.cols(); ++k) y.at(q, i, j) += a.at(q, i, k) * b.at(q, k, j);
  return y;
}
Array mirrored(const Array& a, bool conjugate = true) {
  Shape s = a.shape;
  std::swap(s[s.size() - 1], s[s.size() - 2]);
  Array y(s);
  for (Index q = 0; q < a.batch(); ++q)
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j)
        y.at(q, j, i) = conjugate ? std::conj(a.at(q, i, j)) : a.at(q, i, j);
  return y;
}
/// Largest |a - b| relative to the largest |b|.
double defect(const Array& a, const Array& b) {
  if (a.shape != b.shape) return INFINITY;
  long double worst = 0, scale = 1e-30L;
  for (Index i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return static_cast<double>(worst / scale);
}
double identity_defect(const Array& a) {
  double worst = 0;
  for (Index q = 0; q < a.batch(); ++q)
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j)
        worst = std::max(worst, static_cast<double>(std::abs(a.at(q, i, j) - Wide(i == j))));
  return worst;
}
Array scaled_columns(const Array& a, const Array& s) {
  Array y = a;
  for (Index q = 0; q < a.batch(); ++q)
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j) y.at(q, i, j) *= s[q * a.cols() + j];
  return y;
}
/// Entries off the kept triangle, and imaginary or negative parts of the diagonal.
double triangle_defect(const Array& a, bool lower, bool positive) {
  double worst = 0;
  for (Index q = 0; q < a.batch(); ++q)
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j) {
        if (lower ? j > i : j < i)
          worst = std::max(worst, static_cast<double>(std::abs(a.at(q, i, j))));
        if (positive && i == j && (a.at(q, i, j).real() < 0 || a.at(q, i, j).imag() != 0))
          worst = INFINITY;
      }
  return worst;
}

/// Determinants of a stack by Gauss's elimination with pivoting.
Array determinants(const Array& a) {
  Shape lead = a.shape;
  lead.erase(lead.size() - 1), lead.erase(lead.size() - 1);
  Array y(lead), m = a;
  const Index n = a.rows();
  for (Index q = 0; q < a.batch(); ++q) {
    y[q] = 1;
    for (Index k = 0; k < n; ++k) {
      Index pivot = k;
      for (Index i = k; i < n; ++i)
        if (std::abs(m.at(q, i, k)) > std::abs(m.at(q, pivot, k))) pivot = i;
      for (Index j = 0; j < n; ++j) std::swap(m.at(q, k, j), m.at(q, pivot, j));
      y[q] *= pivot == k ? m.at(q, k, k) : -m.at(q, k, k);
      for (Index i = k + 1; i < n; ++i)
        for (Index j = n - 1; j >= k; --j)
          m.at(q, i, j) -= m.at(q, i, k) / m.at(q, k, k) * m.at(q, k, j);
    }
  }
  return y;
}
/// |x|^2, which forgets phases.
Tensor modulus(const Tensor& x) {
  return is_complex(x.dtype()) ? square(real(x)) + square(imag(x)) : square(x);
}

/// A stack of two matrices whose singular values are well apart: a known spread plus a little
/// noise.
Tensor spread_matrices(Dtype t, Index m, Index n, Rng& rng) {
  Tensor x = uniform_tensor(t, {2, m, n}, rng);
  if (!is_inexact(t)) return x;
  Array a = to_array(x);
  for (Index q = 0; q < 2; ++q)
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        a.at(q, i, j) =
            0.25L * a.at(q, i, j) + (i == j ? 1.0L + 0.7L * static_cast<long double>(i) : 0.0L);
  return to_tensor(a, t);
}
Inputs stack_of(Index dm, Index dn) {
  return
      [=](Dtype t, Index n, Rng& rng) { return Tensors{spread_matrices(t, n + dm, n + dn, rng)}; };
}

}  // namespace

void linalg_rows(std::vector<Row>& rows) {
  auto times = [](const Arrays& in) { return Arrays{product(in[0], in[1])}; };
  rows.push_back(
      {.primitive = "matmul",
       .variant = "stacks",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             return Tensors{uniform_tensor(t, {2, 3, n}, rng), uniform_tensor(t, {2, n, 4}, rng)};
           },
       .f = [](const Tensors& x) { return Tensors{matmul(x[0], x[1])}; },
       .oracle = times,
       .tolerance = 16,
       .large = 500});
  rows.push_back(
      {.primitive = "matmul",
       .variant = "transposed views",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             return Tensors{uniform_tensor(t, {n, 3}, rng), uniform_tensor(t, {4, n}, rng)};
           },
       .f = [](const Tensors& x) { return Tensors{matmul(transpose(x[0]), transpose(x[1]))}; },
       .oracle =
           [](const Arrays& in) {
             return Arrays{product(mirrored(in[0], false), mirrored(in[1], false))};
           },
       .tolerance = 16,
       .large = 300});

  // Bands [2, 3, n] with a large diagonal, so that the error is that of the residual.
  rows.push_back({.primitive = "tridiagonal_solve",
                  .dtypes = kInexact,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        Array a = to_array(uniform_tensor(t, {2, 3, n}, rng));
                        for (Index q = 0; q < 2; ++q)
                          for (Index i = 0; i < n; ++i) a.at(q, 1, i) += 3.0L;
                        return Tensors{to_tensor(a, t), uniform_tensor(t, {2, n, 2}, rng)};
                      },
                  .f = [](const Tensors& x) { return Tensors{tridiagonal_solve(x[0], x[1])}; },
                  .tolerance = 16,
                  .property =
                      [](const Tensors& in, const Tensors& out) {
                        const Array a = to_array(in[0]), x = to_array(out[0]);
                        Array y(x.shape);
                        const Index n = x.rows();
                        for (Index q = 0; q < 2; ++q)
                          for (Index i = 0; i < n; ++i)
                            for (Index k = 0; k < 2; ++k) {
                              y.at(q, i, k) = a.at(q, 1, i) * x.at(q, i, k);
                              if (i > 0) y.at(q, i, k) += a.at(q, 0, i) * x.at(q, i - 1, k);
                              if (i + 1 < n) y.at(q, i, k) += a.at(q, 2, i) * x.at(q, i + 1, k);
                            }
                        return defect(y, to_array(in[1]));
                      },
                  .large = 9000});
  // Symmetrised inside, as the user's function does it.
  rows.push_back({.primitive = "cholesky",
                  .dtypes = kInexact,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        Array a = to_array(spread_matrices(t, n, n, rng));
                        if (is_inexact(t)) {
                          a = product(a, mirrored(a));
                          for (Index q = 0; q < 2; ++q)
                            for (Index i = 0; i < n; ++i) a.at(q, i, i) += 1.0L;
                        }
                        return Tensors{to_tensor(a, t)};
                      },
                  .f = [](const Tensors& x) { return Tensors{cholesky(x[0])}; },
                  .tolerance = 32,
                  .property =
                      [](const Tensors& x, const Tensors& y) {
                        const Array l = to_array(y[0]);
                        return defect(product(l, mirrored(l)), to_array(x[0])) +
                               triangle_defect(l, true, true);
                      },
                  .large = 60});
  for (int k = 0; k < 32; ++k) {
    const TriangularOptions f{.lower = (k & 1) != 0,
                              .transpose = (k & 2) != 0,
                              .conjugate = (k & 4) != 0,
                              .unit = (k & 8) != 0,
                              .left = (k & 16) != 0};
    std::string variant = std::string(f.lower ? "lower" : "upper") +
                          (f.transpose ? " transposed" : "") + (f.conjugate ? " conjugated" : "") +
                          (f.unit ? " unit" : "") + (f.left ? " left" : " right");
    rows.push_back({.primitive = "triangular_solve",
                    .variant = variant,
                    .dtypes = kInexact,
                    .inputs =
                        [f](Dtype t, Index n, Rng& rng) {
                          return Tensors{spread_matrices(t, n, n, rng),
                                         f.left ? uniform_tensor(t, {2, n, 2}, rng)
                                                : uniform_tensor(t, {2, 2, n}, rng)};
                        },
                    .f = [f](const Tensors& x) { return Tensors{triangular_solve(x[0], x[1], f)}; },
                    .tolerance = 64,
                    .property =
                        [f](const Tensors& x, const Tensors& y) {
                          Array a = to_array(x[0]);
                          for (Index q = 0; q < a.batch(); ++q)
                            for (Index i = 0; i < a.rows(); ++i)
                              for (Index j = 0; j < a.cols(); ++j) {
                                if (f.lower ? j > i : j < i) a.at(q, i, j) = 0;
                                if (f.unit && i == j) a.at(q, i, j) = 1;
                              }
                          if (f.transpose) a = mirrored(a, false);
                          if (f.conjugate)
                            for (Wide& z : a.v) z = std::conj(z);
                          const Array z = to_array(y[0]);
                          return defect(f.left ? product(a, z) : product(z, a), to_array(x[1]));
                        },
                    .large = k % 7 == 0 ? 100 : 0});
  }
  for (bool left : {true, false})
    rows.push_back(
        {.primitive = "triangular_solve",
         .variant = left ? "one matrix, left" : "one matrix, right",
         .dtypes = kInexact,
         .inputs =
             [left](Dtype t, Index n, Rng& rng) {
               return Tensors{
                   select(spread_matrices(t, n, n, rng), 0, 1),
                   left ? uniform_tensor(t, {n, 2}, rng) : uniform_tensor(t, {2, n}, rng)};
             },
         .f =
             [left](const Tensors& x) {
               return Tensors{triangular_solve(x[0], x[1], {.lower = false, .left = left})};
             },
         .tolerance = 64,
         .property =
             [left](const Tensors& x, const Tensors& y) {
               const Array a = to_array(triu(x[0])), z = to_array(y[0]);
               return defect(left ? product(a, z) : product(z, a), to_array(x[1]));
             }});
  rows.push_back({.primitive = "det",
                  .dtypes = kInexact,
                  .inputs = stack_of(0, 0),
                  .f = [](const Tensors& x) { return Tensors{det(x[0])}; },
                  .oracle = [](const Arrays& in) { return Arrays{determinants(in[0])}; },
                  .tolerance = 64,
                  .large = 40});
  // Along E: the sum over rows of determinants with that row of E. Both ways of the kernel: up to 4
  // x 4 and beyond.
  for (Index more : {0, 2})
    rows.push_back({.primitive = "cofactors",
                    .variant = more ? "by singular vectors" : "expanded",
                    .dtypes = kInexact,
                    .inputs =
                        [more](Dtype t, Index n, Rng& rng) {
                          return Tensors{spread_matrices(t, n + more, n + more, rng),
                                         uniform_tensor(t, {2, n + more, n + more}, rng)};
                        },
                    .f =
                        [](const Tensors& x) {
                          return Tensors{jvp([](Tensor a) { return det(a); }, x[0], x[1]).second};
                        },
                    .oracle =
                        [](const Arrays& in) {
                          Array total = determinants(in[0]);
                          for (Wide& z : total.v) z = 0;
                          for (Index row = 0; row < in[0].rows(); ++row) {
                            Array a = in[0];
                            for (Index q = 0; q < a.batch(); ++q)
                              for (Index j = 0; j < a.cols(); ++j)
                                a.at(q, row, j) = in[1].at(q, row, j);
                            const Array d = determinants(a);
                            for (Index q = 0; q < total.size(); ++q) total[q] += d[q];
                          }
                          return Arrays{total};
                        },
                    .tolerance = 256,
                    .large = more ? 10 : 0});
  for (auto [dm, dn] : {std::pair<Index, Index>{0, 0}, {2, 0}, {0, 2}}) {
    const std::string shape = dm ? "tall" : dn ? "wide" : "square";
    rows.push_back({.primitive = "lu",
                    .variant = shape,
                    .dtypes = kInexact,
                    .inputs = stack_of(dm, dn),
                    .f =
                        [](const Tensors& x) {
                          const LU f = lu(x[0]);
                          return Tensors{f.p, f.l, f.u};
                        },
                    .tolerance = 32,
                    .property =
                        [](const Tensors& x, const Tensors& y) {
                          const Array p = to_array(y[0]), l = to_array(y[1]), u = to_array(y[2]);
                          double d = defect(product(p, product(l, u)), to_array(x[0])) +
                                     triangle_defect(l, true, false) +
                                     triangle_defect(u, false, false);
                          for (Index q = 0; q < l.batch(); ++q)
                            for (Index i = 0; i < l.cols(); ++i)
                              d += static_cast<double>(std::abs(l.at(q, i, i) - Wide(1)));
                          return d + identity_defect(product(p, mirrored(p)));
                        },
                    .large = 100});
    rows.push_back({.primitive = "qr",
                    .variant = shape,
                    .dtypes = kInexact,
                    .inputs = stack_of(dm, dn),
                    .f =
                        [](const Tensors& x) {
                          const QR f = qr(x[0]);
                          return Tensors{f.q, f.r};
                        },
                    .tolerance = 64,
                    .property =
                        [](const Tensors& x, const Tensors& y) {
                          const Array q = to_array(y[0]), r = to_array(y[1]);
                          return defect(product(q, r), to_array(x[0])) +
                                 identity_defect(product(mirrored(q), q)) +
                                 triangle_defect(r, false, true);
                        },
                    .large = 60});
    rows.push_back({.primitive = "svd",
                    .variant = shape,
                    .dtypes = kInexact,
                    .inputs = stack_of(dm, dn),
                    .f =
                        [](const Tensors& x) {
                          const SVD f = svd(x[0]);
                          return Tensors{f.u, f.s, f.vh};
                        },
                    .tolerance = 64,
                    .property =
                        [](const Tensors& x, const Tensors& y) {
                          const Array u = to_array(y[0]), s = to_array(y[1]), vh = to_array(y[2]);
                          double d = defect(product(scaled_columns(u, s), vh), to_array(x[0]));
                          d += identity_defect(product(mirrored(u), u)) +
                               identity_defect(product(vh, mirrored(vh)));
                          for (Index q = 0, k = u.cols(); q < u.batch(); ++q)
                            for (Index i = 0; i < k; ++i)
                              if (s[q * k + i].real() < 0 ||
                                  (i && s[q * k + i].real() > s[q * k + i - 1].real()))
                                d = INFINITY;
                          return d;
                        },
                    .large = 40,
                    .derivative_tolerance = 1e-6,
                    .invariant =
                        [](const Tensors& x) {
                          const SVD f = svd(x[0]);
                          return Tensors{f.s, matmul(f.u, f.vh), modulus(f.u), modulus(f.vh)};
                        }});
  }
  rows.push_back({.primitive = "eigh",
                  .dtypes = kInexact,
                  .inputs = stack_of(0, 0),
                  .f =
                      [](const Tensors& x) {
                        const Eigh f = eigh(x[0]);
                        return Tensors{f.values, f.vectors};
                      },
                  .tolerance = 64,
                  .property =
                      [](const Tensors& x, const Tensors& y) {
                        const Array w = to_array(y[0]), v = to_array(y[1]);
                        Array a = to_array(x[0]);
                        const Array h = mirrored(a);
                        for (Index i = 0; i < a.size(); ++i) a[i] = 0.5L * (a[i] + h[i]);
                        double d = defect(product(scaled_columns(v, w), mirrored(v)), a) +
                                   identity_defect(product(mirrored(v), v));
                        for (Index q = 0, n = v.cols(); q < v.batch(); ++q)
                          for (Index i = 1; i < n; ++i)
                            if (w[q * n + i].real() < w[q * n + i - 1].real()) d = INFINITY;
                        return d;
                      },
                  .large = 40,
                  .derivative_tolerance = 1e-6,
                  .invariant =
                      [](const Tensors& x) {
                        const Eigh f = eigh(x[0]);
                        return Tensors{f.values,
                                       matmul(f.vectors * cast(expand_dims(sin(f.values), -2),
                                                               f.vectors.dtype()),
                                              adjoint(f.vectors)),
                                       modulus(f.vectors)};
                      }});
}

}  // namespace tessera::table
