// SPDX-License-Identifier: Apache-2.0
//
// Rows of sparse products: against the same products with the dense matrix, entry by entry.
#include "op_table.h"
#include "tessera/autodiff/ops/sparse.h"

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

/// n + 2 rows and n + 3 columns: two diagonals, a full row, an empty row and an empty column.
CsrPatternPtr pattern_of(Index n) {
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < n + 2; ++i) {
    for (Index j = i == 0 ? 0 : std::max<Index>(0, i - 2); j < (i == 0 ? n + 2 : i + 1); ++j)
      if (i != 1 && j != i - 1) column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  return csr_pattern(n + 2, n + 3, begin, column);
}
/// The rows' sizes are known from the operands' shapes; this is the n they were made from.
Index size_of_columns(const Tensor& x) { return x.dim(-2) - 3; }

Array dense(const Array& values, const CsrPattern& p, Index batch) {
  Array a(Shape{batch, p.rows(), p.cols()});
  for (Index b = 0; b < batch; ++b)
    for (Index i = 0; i < p.rows(); ++i)
      for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e)
        a.at(b, i, p.column()[e]) = values[b * p.entries() + e];
  return a;
}

}  // namespace

void sparse_rows(std::vector<Row>& rows) {
  for (bool transposed : {false, true})
    rows.push_back(
        {.primitive = "csr_matmul",
         .variant = transposed ? "transposed" : "",
         .dtypes = kInexact,
         .inputs =
             [=](Dtype t, Index n, Rng& rng) {
               const auto p = pattern_of(n);
               return Tensors{uniform_tensor(t, {2, p->entries()}, rng),
                              uniform_tensor(t, {2, transposed ? p->rows() : p->cols(), 3}, rng)};
             },
         .f =
             [=](const Tensors& x) {
               return Tensors{csr_matmul(x[0], pattern_of(x[1].dim(-2) - (transposed ? 2 : 3)),
                                         x[1], transposed)};
             },
         .oracle =
             [=](const Arrays& in) {
               const auto p = pattern_of(in[1].rows() - (transposed ? 2 : 3));
               const Array a = dense(in[0], *p, 2);
               Array y(Shape{2, transposed ? p->cols() : p->rows(), 3});
               for (Index b = 0; b < 2; ++b)
                 for (Index i = 0; i < p->rows(); ++i)
                   for (Index j = 0; j < p->cols(); ++j)
                     for (Index k = 0; k < 3; ++k)
                       if (transposed)
                         y.at(b, j, k) += a.at(b, i, j) * in[1].at(b, i, k);
                       else
                         y.at(b, i, k) += a.at(b, i, j) * in[1].at(b, j, k);
               return Arrays{y};
             },
         .tolerance = 16,
         .large = 9000});
  rows.push_back({.primitive = "csr_matmul",
                  .variant = "vector",
                  .dtypes = kInexact,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        const auto p = pattern_of(n);
                        return Tensors{uniform_tensor(t, {p->entries()}, rng),
                                       uniform_tensor(t, {p->cols()}, rng)};
                      },
                  .f =
                      [](const Tensors& x) {
                        return Tensors{csr_matmul(x[0], pattern_of(x[1].dim(0) - 3), x[1])};
                      },
                  .oracle =
                      [](const Arrays& in) {
                        const auto p = pattern_of(in[1].size() - 3);
                        const Array a = dense(in[0], *p, 1);
                        Array y(Shape{p->rows()});
                        for (Index i = 0; i < p->rows(); ++i)
                          for (Index j = 0; j < p->cols(); ++j) y[i] += a.at(0, i, j) * in[1][j];
                        return Arrays{y};
                      },
                  .tolerance = 16,
                  .large = 30000});
  rows.push_back({.primitive = "csr_sddmm",
                  .dtypes = kInexact,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{uniform_tensor(t, {2, n + 2, 2}, rng),
                                       uniform_tensor(t, {2, n + 3, 2}, rng)};
                      },
                  .f =
                      [](const Tensors& x) {
                        return Tensors{csr_sddmm(pattern_of(size_of_columns(x[1])), x[0], x[1])};
                      },
                  .oracle =
                      [](const Arrays& in) {
                        const auto p = pattern_of(in[1].rows() - 3);
                        Array y(Shape{2, p->entries()});
                        for (Index b = 0; b < 2; ++b)
                          for (Index i = 0; i < p->rows(); ++i)
                            for (Index e = p->row_begin()[i]; e < p->row_begin()[i + 1]; ++e)
                              for (Index k = 0; k < 2; ++k)
                                y[b * p->entries() + e] +=
                                    in[0].at(b, i, k) * in[1].at(b, p->column()[e], k);
                        return Arrays{y};
                      },
                  .tolerance = 16,
                  .large = 9000});
}

}  // namespace tessera::table
