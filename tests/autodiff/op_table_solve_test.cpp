// SPDX-License-Identifier: Apache-2.0
//
// Rows of linear systems: held to their equation in long double. The tolerance of the iterations is
// near rounding, so that derivatives of any order agree as those of the direct solvers do.
#include "op_table.h"
#include "tessera/autodiff/implicit.h"
#include "tessera/autodiff/ode.h"
#include "tessera/autodiff/ops/spectral.h"
#include "tessera/autodiff/solve.h"

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;

double near_rounding(Dtype t) { return size_of(real_of(t)) == 4 ? 5e-7 : 5e-15; }

/// A stack of matrices with a diagonal of about 3 and noise.
Tensor dominant_matrices(Dtype t, Index n, Rng& rng) {
  Tensor x = uniform_tensor(t, {2, n, n}, rng);
  if (!is_inexact(t)) return x;
  Array a = to_array(x);
  for (Index q = 0; q < 2; ++q)
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) a.at(q, i, j) /= static_cast<long double>(n);
      a.at(q, i, i) += 3.0L;
    }
  return to_tensor(a, t);
}
/// Largest |A x - b| relative to |b|, for one matrix or a stack.
double defect(const Array& a, const Array& x, const Array& b) {
  long double worst = 0, scale = 1e-30L;
  for (Index q = 0; q < b.batch(); ++q)
    for (Index i = 0; i < b.rows(); ++i)
      for (Index k = 0; k < b.cols(); ++k) {
        Wide s = -b.at(q, i, k);
        for (Index j = 0; j < b.rows(); ++j)
          s += a.at(a.batch() == 1 ? 0 : q, i, j) * x.at(q, j, k);
        worst = std::max(worst, std::abs(s));
        scale = std::max(scale, std::abs(b.at(q, i, k)));
      }
  return static_cast<double>(worst / scale);
}
/// Tridiagonal n x n, by n.
CsrPatternPtr band(Index n) {
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j <= std::min(n - 1, i + 1); ++j) column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  return csr_pattern(n, n, begin, column);
}

}  // namespace

void solve_rows(std::vector<Row>& rows) {
  const auto stacked = [](const Tensors& x, const Tensors& y) {
    return defect(to_array(x[0]), to_array(y[0]), to_array(x[1]));
  };
  rows.push_back(
      {.primitive = "linear_solve",
       .variant = "dense, stacks",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             return Tensors{dominant_matrices(t, n, rng), uniform_tensor(t, {2, n, 2}, rng)};
           },
       .f =
           [](const Tensors& x) {
             return Tensors{linear_solve(LinearOperator::dense(x[0]), x[1]).x};
           },
       .tolerance = 32,
       .property = stacked,
       .large = 120});
  rows.push_back({.primitive = "linear_solve",
                  .variant = "dense, one matrix",
                  .dtypes = kInexact,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{select(dominant_matrices(t, n, rng), 0, 1),
                                       uniform_tensor(t, {n, 2}, rng)};
                      },
                  .f =
                      [](const Tensors& x) {
                        return Tensors{linear_solve(LinearOperator::dense(x[0]), x[1]).x};
                      },
                  .tolerance = 32,
                  .property = stacked});
  rows.push_back(
      {.primitive = "linear_solve",
       .variant = "csr, gmres",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             const auto p = band(n);
             Tensor v = uniform_tensor(t, {p->entries()}, rng);
             if (is_inexact(t)) {
               Array a = to_array(v);
               const auto row = p->row_of_entries();
               for (Index e = 0; e < a.size(); ++e)
                 if (row[static_cast<std::size_t>(e)] == p->column()[static_cast<std::size_t>(e)])
                   a[e] += 4.0L;
               v = to_tensor(a, t);
             }
             return Tensors{v, uniform_tensor(t, {n, 1}, rng)};
           },
       .f =
           [](const Tensors& x) {
             return Tensors{
                 linear_solve(LinearOperator::csr(x[0], band(x[1].dim(0))), x[1],
                              {.solver = gmres({.tolerance = near_rounding(x[1].dtype())})})
                     .x};
           },
       .tolerance = 64,
       .property =
           [](const Tensors& x, const Tensors& y) {
             const auto p = band(x[1].dim(0));
             return defect(to_array(csr_to_dense(x[0], p)), to_array(y[0]), to_array(x[1]));
           },
       .large = 12000});
  // A(p) x = 3 x + sin(p) x[::-1], p of x's shape: nonlinear in the captured p.
  rows.push_back(
      {.primitive = "linear_solve",
       .variant = "function",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             return Tensors{uniform_tensor(t, {2, n}, rng), uniform_tensor(t, {2, n}, rng)};
           },
       .f =
           [](const Tensors& x) {
             const Tensor p = x[0];
             const auto a = LinearOperator::function([p](const Tensor& u) {
               return 3.0 * u + sin(p) * reverse(u, {0, 1});
             });
             return Tensors{
                 linear_solve(a, x[1],
                              {.solver = gmres({.tolerance = near_rounding(x[1].dtype())})})
                     .x};
           },
       .tolerance = 64,
       .property =
           [](const Tensors& x, const Tensors& y) {
             const Array p = to_array(x[0]), b = to_array(x[1]), u = to_array(y[0]);
             long double worst = 0;
             for (Index i = 0; i < b.size(); ++i)
               worst = std::max(
                   worst, std::abs(3.0L * u[i] + std::sin(p[i]) * u[b.size() - 1 - i] - b[i]));
             return static_cast<double>(worst);
           }});
  // 2 x + x^3 / 5 = p, element by element: a complex p makes pairs of real unknowns.
  rows.push_back(
      {.primitive = "implicit",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             return Tensors{uniform_tensor(t, {2, n}, rng)};
           },
       .f =
           [](const Tensors& x) {
             const Tensor p = x[0];
             return Tensors{root([p](const Tensor& u) { return 2.0 * u + 0.2 * (u * u * u) - p; },
                                 zeros(p.shape(), p.dtype()))
                                .x};
           },
       .tolerance = 64,
       .property =
           [](const Tensors& x, const Tensors& y) {
             const Array p = to_array(x[0]), u = to_array(y[0]);
             long double worst = 0;
             for (Index i = 0; i < p.size(); ++i)
               worst = std::max(worst, std::abs(2.0L * u[i] + 0.2L * u[i] * u[i] * u[i] - p[i]));
             return static_cast<double>(worst);
           }});
  // y' = 0.3 y^2 - p y: y = y0 e / (1 - 0.3 y0 (1 - e) / p) with e = exp(-p (t1 - t0)). Steps short
  // enough that tangents and adjoints, each of which is right to h^5, agree to rounding.
  rows.push_back(
      {.primitive = "ode_flow",
       .dtypes = kInexact,
       .inputs =
           [](Dtype t, Index n, Rng& rng) {
             Tensor times = uniform_tensor(real_of(t), {2}, rng);
             if (is_inexact(t)) times = 0.01 * times + cast(tensor({0.0, 0.1}), times.dtype());
             return Tensors{uniform_tensor(t, {n}, rng), uniform_tensor(t, {n}, rng), times};
           },
       .f =
           [](const Tensors& x) {
             const Tensor p = x[1];
             const auto y =
                 odeint([p](const Tensor&, const Tensor& u) { return 0.3 * (u * u) - p * u; }, x[0],
                        x[2], {.steps = 12, .adjoint = OdeAdjoint::continuous})
                     .y;
             return Tensors{select(y, 0, 1)};
           },
       .oracle =
           [](const std::vector<Array>& x) {
             Array y(x[0].shape);
             for (Index i = 0; i < y.size(); ++i) {
               const Wide e = std::exp(-x[1][i] * (x[2][1] - x[2][0]));
               y[i] = x[0][i] * e / (Wide(1) - Wide(0.3L) * x[0][i] * (Wide(1) - e) / x[1][i]);
             }
             return std::vector<Array>{y};
           },
       .tolerance = 200});
  const auto positive = [](Dtype t, Index n, Rng& rng) {
    if (!is_inexact(t)) return Tensors{uniform_tensor(t, {2, n, n}, rng)};
    const Tensor x = dominant_matrices(t, n, rng);
    return Tensors{0.2 * matmul(x, adjoint(x))};
  };
  const auto half = [](const Tensors& x) {
    return Tensors{hermitian_function(x[0], SpectralFunction::power(0.5))};
  };
  rows.push_back({.primitive = "spectral_chain",
                  .variant = "square root",
                  .dtypes = kInexact,
                  .inputs = positive,
                  .f = half,
                  .tolerance = 64,
                  .property =
                      [](const Tensors& x, const Tensors& y) {
                        return defect(to_array(y[0]), to_array(y[0]),
                                      to_array(0.5 * (x[0] + adjoint(x[0]))));
                      },
                  .large = 20});
  // exp(log A) = A: both rules against the identity's.
  rows.push_back({.primitive = "spectral_chain",
                  .variant = "exp of log",
                  .dtypes = kInexact,
                  .inputs = positive,
                  .f =
                      [](const Tensors& x) {
                        return Tensors{
                            hermitian_function(hermitian_function(x[0], SpectralFunction::log()),
                                               SpectralFunction::exp())};
                      },
                  .tolerance = 64,
                  .property =
                      [](const Tensors& x, const Tensors& y) {
                        const Array a = to_array(0.5 * (x[0] + adjoint(x[0]))), b = to_array(y[0]);
                        long double worst = 0;
                        for (Index i = 0; i < a.size(); ++i)
                          worst = std::max(worst, std::abs(a[i] - b[i]));
                        return static_cast<double>(worst) / 4;
                      }});
}

}  // namespace tessera::table
