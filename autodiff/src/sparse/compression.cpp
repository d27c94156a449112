// SPDX-License-Identifier: Apache-2.0
//
// Products of the Jacobian J [m, n] with the sums of its columns of one colour, B = J S^T [m,
// colours], held here as [colours, m]; by rows S J [colours, n]. Every entry of J stands alone in
// one of them.
#include "../base/context.h"
#include "../core/rules.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/sparse.h"

#include <algorithm>

namespace tessera::detail {
namespace {

/// [colours, n]: 1 where a column has the colour of the row.
Tensor seeds_of(const Coloring& c, Dtype dtype) {
  const Tensor colors = tensor(std::vector<std::int64_t>(c.color.begin(), c.color.end()));
  return contiguous(transpose(one_hot(colors, c.count, dtype)));
}

}  // namespace

Compression compress_jacobian(CsrPatternPtr pattern, Dtype dtype, Compress how) {
  Compression c;
  c.pattern = std::move(pattern);
  const CsrPattern& p = *c.pattern;
  Coloring columns, rows;
  if (how != Compress::rows) columns = color_columns(p);
  if (how != Compress::columns) rows = color_rows(p);
  // A row costs about twice as much as a column: reverse mode runs back over what forward mode runs
  // once.
  c.by_columns =
      how == Compress::columns || (how == Compress::fewer && columns.count <= 2 * rows.count);
  const Coloring& used = c.by_columns ? columns : rows;
  c.colors = used.count;
  c.seeds = seeds_of(used, dtype);
  std::vector<std::int64_t> slots;
  const std::vector<Index> row = p.row_of_entries();
  for (std::size_t e = 0; e < row.size(); ++e) {
    const Index i = row[e], j = p.column()[e];
    slots.push_back(c.by_columns ? used.color[static_cast<std::size_t>(j)] * p.rows() + i
                                 : used.color[static_cast<std::size_t>(i)] * p.cols() + j);
  }
  c.slots = tensor(slots);
  return c;
}

// H_ij stands alone in (H s_color(j))_i unless another neighbour of i has j's colour; then, in a
// star colouring, H_ji does in (H s_color(i))_j.
Compression compress_hessian(const CsrPatternPtr& half, Dtype dtype) {
  const Index n = half->cols();
  std::vector<Index> row = half->row_of_entries(),
                     column(half->column().begin(), half->column().end());
  const std::size_t n_half = row.size();
  for (std::size_t e = 0; e < n_half; ++e) row.push_back(column[e]), column.push_back(row[e]);
  for (Index i = 0; i < n; ++i) row.push_back(i), column.push_back(i);
  Compression c;
  c.pattern = csr_from_coo(n, n, row, column).pattern;
  const CsrPattern& p = *c.pattern;
  const Coloring star = color_star(p);
  c.colors = star.count;
  c.seeds = seeds_of(star, dtype);
  const auto color = [&](Index v) { return star.color[static_cast<std::size_t>(v)]; };
  const auto alone = [&](Index i, Index j) {
    for (Index e = p.row_begin()[static_cast<std::size_t>(i)];
         e < p.row_begin()[static_cast<std::size_t>(i) + 1]; ++e) {
      const Index k = p.column()[static_cast<std::size_t>(e)];
      if (k != j && color(k) == color(j)) return false;
    }
    return true;
  };
  std::vector<std::int64_t> slots;
  for (Index i = 0; i < p.rows(); ++i)
    for (Index e = p.row_begin()[static_cast<std::size_t>(i)];
         e < p.row_begin()[static_cast<std::size_t>(i) + 1]; ++e) {
      const Index j = p.column()[static_cast<std::size_t>(e)];
      slots.push_back(alone(i, j) ? color(j) * p.rows() + i : color(i) * p.rows() + j);
    }
  c.slots = tensor(slots);
  return c;
}

Tensor compressed_values(const FlatFunction& f, const Tensor& x, const Compression& c) {
  const CsrPattern& p = *c.pattern;
  if (x.size() != p.cols())
    fail("sparse derivative", "the pattern has " + std::to_string(p.cols()) +
                                  " columns, the argument is a " + to_string(x.type()));
  if (p.entries() == 0) return zeros({0}, x.dtype());
  const Linearized l = linearize_flat("sparse derivative", f, {x});
  if (l.out_types[0].shape.count() != p.rows())
    fail("sparse derivative", "the pattern has " + std::to_string(p.rows()) +
                                  " rows, the function returned a " + to_string(l.out_types[0]));
  if (!l.out_live[0]) return zeros({p.entries()}, l.out_types[0].dtype);
  InTransform scope("sparse derivative");
  Shape seed_shape = c.by_columns ? x.shape() : l.out_types[0].shape;
  seed_shape.insert(0, c.colors);
  const Tensor seeds[] = {
      reshape(cast(c.seeds, (c.by_columns ? l.in_types : l.out_types)[0].dtype), seed_shape)};
  std::vector<bool> batched;
  Tensor products;
  if (c.by_columns) {
    products = batch_graph(*l.map, seeds, {true}, c.colors, batched)[0];
  } else {
    const Graph back =
        record_abstract(
            "sparse derivative",
            [&](const std::vector<Tensor>& ct) { return transpose_graph(*l.map, ct); }, l.out_types)
            .graph;
    products = batch_graph(back, seeds, {true}, c.colors, batched)[0];
  }
  products = with_batch(products, batched[0], c.colors);
  return gather(reshape(products, {products.size()}), c.slots);
}

}  // namespace tessera::detail
