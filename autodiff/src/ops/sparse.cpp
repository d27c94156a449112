// SPDX-License-Identifier: Apache-2.0
//
// Products with sparse matrices. With A(v) the matrix of the values v on a fixed pattern,
//   Y = A(v) X:      X* = conj(A(v)^T conj(Y*)),   v* = (Y* X^H) at the pattern      (sddmm)
//   s = (X Y^T) at the pattern:  X* = A(s*) conj(Y),  Y* = A(s*)^T conj(X)    (matmul)
// where * marks cotangents: either primitive is the other's transpose.
#include "tessera/autodiff/ops/sparse.h"

#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/map.h"
#include "csr_attr.h"
#include "matrix_forms.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <numeric>

namespace tessera {

CsrPattern::CsrPattern(Index rows, Index cols, std::vector<Index> row_begin,
                       std::vector<Index> column)
    : rows_(rows), cols_(cols), row_begin_(std::move(row_begin)), column_(std::move(column)) {
  const auto n = static_cast<Index>(column_.size());
  if (rows < 0 || cols < 0)
    fail("csr_pattern", "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols));
  if (static_cast<Index>(row_begin_.size()) != rows + 1)
    fail("csr_pattern", "row_begin has " + std::to_string(row_begin_.size()) + " entries; " +
                            std::to_string(rows) + " rows need one more than rows");
  if (row_begin_.front() != 0 || row_begin_.back() != n)
    fail("csr_pattern", "row_begin goes from " + std::to_string(row_begin_.front()) + " to " +
                            std::to_string(row_begin_.back()) +
                            "; it must go from 0 to the number of columns given, " +
                            std::to_string(n));
  for (Index i = 0; i < rows; ++i)
    if (row_begin_[i] > row_begin_[i + 1])
      fail("csr_pattern", "row_begin falls at row " + std::to_string(i));
  for (Index i = 0; i < rows; ++i)
    for (Index e = row_begin_[i]; e < row_begin_[i + 1]; ++e) {
      if (column_[e] < 0 || column_[e] >= cols)
        fail("csr_pattern", "row " + std::to_string(i) + " has an entry in column " +
                                std::to_string(column_[e]) + " of " + std::to_string(cols));
      if (e > row_begin_[i] && column_[e] <= column_[e - 1])
        fail("csr_pattern", "columns of row " + std::to_string(i) +
                                " do not rise strictly; csr_from_coo sorts and merges");
    }
  ByColumns& t = by_columns_;
  t.begin.assign(static_cast<std::size_t>(cols) + 1, 0);
  for (Index c : column_) ++t.begin[c + 1];
  std::partial_sum(t.begin.begin(), t.begin.end(), t.begin.begin());
  t.row.resize(column_.size());
  t.entry.resize(column_.size());
  std::vector<Index> next(t.begin.begin(), t.begin.end() - 1);
  for (Index i = 0; i < rows; ++i)
    for (Index e = row_begin_[i]; e < row_begin_[i + 1]; ++e) {
      const Index at = next[column_[e]]++;
      t.row[at] = i;
      t.entry[at] = e;
    }
}
std::vector<Index> CsrPattern::row_of_entries() const {
  std::vector<Index> row(column_.size());
  for (Index i = 0; i < rows_; ++i)
    std::fill(row.begin() + row_begin_[i], row.begin() + row_begin_[i + 1], i);
  return row;
}
bool CsrPattern::operator==(const CsrPattern& o) const {
  return this == &o || (rows_ == o.rows_ && cols_ == o.cols_ && row_begin_ == o.row_begin_ &&
                        column_ == o.column_);
}
CsrPatternPtr csr_pattern(Index rows, Index cols, std::vector<Index> row_begin,
                          std::vector<Index> column) {
  return std::make_shared<const CsrPattern>(rows, cols, std::move(row_begin), std::move(column));
}

namespace {

using namespace kernels;

/// The leading axes of `t` but its last `n`.
Shape lead_of(const Type& t, int n) {
  Shape s;
  for (int d = 0; d + n < t.shape.size(); ++d) s.push_back(t.shape[d]);
  return s;
}
Shape with(Shape s, std::initializer_list<Index> last) {
  for (Index n : last) s.push_back(n);
  return s;
}
std::string described(const CsrPattern& p) {
  return "a pattern of " + std::to_string(p.rows()) + " x " + std::to_string(p.cols()) + " with " +
         std::to_string(p.entries()) + " entries";
}

/// y[k] += v x[k]. Complex arithmetic is written out so that it vectorises.
template <class T>
inline void add_scaled(Index n, T v, const T* x, T* y) {
  for (Index k = 0; k < n; ++k) store(y + k, load(y + k) + multiply(v, load(x + k)));
}

struct CsrMatmul : Bilinear<CsrMatmul> {
  static constexpr const char* name = "csr_matmul";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::multiply_adds(in[0],
                                 detail::count(in[0]) * static_cast<double>(in[1].shape.back()));
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& f = tessera::get<CsrAttr>(a);
    const CsrPattern& p = *f.pattern;
    const Type &v = in[0], &x = in[1];
    const int nx = x.shape.size();
    const Index inner = f.transposed ? p.rows() : p.cols(),
                outer = f.transposed ? p.cols() : p.rows();
    const bool ok = v.dtype == x.dtype && contains(kInexact, v.dtype) && nx >= 2 &&
                    v.shape.size() == nx - 1 && lead_of(v, 1) == lead_of(x, 2) &&
                    v.shape.back() == p.entries() && x.shape[nx - 2] == inner;
    if (!ok)
      fail(name, "values " + to_string(v) + " on " + described(p) + " and " + to_string(x) +
                     " do not fit; needs [..., " + std::to_string(p.entries()) + "] and [..., " +
                     std::to_string(inner) + ", k] of one inexact type with equal leading axes");
    return {{x.dtype, with(lead_of(x, 2), {outer, x.shape.back()})}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        run<T>(*in[0], *in[1], *out[0], tessera::get<CsrAttr>(a));
      };
    });
    return table[static_cast<int>(in[0])];
  }
  template <class T>
  static void run(const View& values, const View& x, const View& y, const CsrAttr& f) {
    const CsrPattern& p = *f.pattern;
    const CsrPattern::ByColumns& t = p.by_columns();
    const Index outer = y.shape[y.shape.size() - 2], inner = x.shape[x.shape.size() - 2],
                k = y.shape.back();
    const Index* begin = f.transposed ? t.begin.data() : p.row_begin().data();
    const Index* other = f.transposed ? t.row.data() : p.column().data();
    const Index* entry = f.transposed ? t.entry.data() : nullptr;
    const Index batch = y.count() / std::max<Index>(1, outer * k);
    const Index per_row = k * (2 + p.entries() / std::max<Index>(1, outer));
    for_rows(batch * outer, per_row, [&](Index r) {
      const Index b = r / outer, i = r % outer;
      const T* v = static_cast<const T*>(values.data) + b * p.entries();
      const T* xb = static_cast<const T*>(x.data) + b * inner * k;
      T* row = static_cast<T*>(y.data) + r * k;
      if (k == 1) {
        T s(0);
        for (Index e = begin[i]; e < begin[i + 1]; ++e)
          s = s + multiply(v[entry ? entry[e] : e], xb[other[e]]);
        row[0] = s;
        return;
      }
      std::fill(row, row + k, T(0));
      for (Index e = begin[i]; e < begin[i + 1]; ++e)
        add_scaled(k, v[entry ? entry[e] : e], xb + other[e] * k, row);
    });
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o);
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    const SourceLine w = detail::context_line();
    if (!batched[0] && a.in[0].ndim() == 1) {  // one matrix for all: the batch becomes columns
      const Tensor& x = a.in[1];
      const Index m = x.dim(-2), k = x.dim(-1);
      const Tensor y =
          apply(primitive<CsrMatmul>(), a.attr, w, a.in[0], reshape(moveaxis(x, 0, 1), {m, n * k}));
      o[0] = moveaxis(reshape(y, {y.dim(0), n, k}), 1, 0);
      return;
    }
    o[0] = apply(primitive<CsrMatmul>(), a.attr, w, detail::with_batch(a.in[0], batched[0], n),
                 detail::with_batch(a.in[1], batched[1], n));
  }
};

struct CsrSddmm : Bilinear<CsrSddmm>, LeadingBatch {
  static constexpr const char* name = "csr_sddmm";
  static double flops(TypeSpan in, TypeSpan out, const Attributes*) {
    return detail::multiply_adds(out[0],
                                 detail::count(out[0]) * static_cast<double>(in[0].shape.back()));
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const CsrPattern& p = *tessera::get<CsrAttr>(a).pattern;
    const Type &x = in[0], &y = in[1];
    const int n = x.shape.size();
    const bool ok = x.dtype == y.dtype && contains(kInexact, x.dtype) && n >= 2 &&
                    y.shape.size() == n && lead_of(x, 2) == lead_of(y, 2) &&
                    x.shape[n - 2] == p.rows() && y.shape[n - 2] == p.cols() &&
                    x.shape[n - 1] == y.shape[n - 1];
    if (!ok)
      fail(name, to_string(x) + " and " + to_string(y) + " do not fit " + described(p) +
                     "; needs [..., rows, k] and [..., cols, k] of one inexact type with equal "
                     "leading axes");
    return {{x.dtype, with(lead_of(x, 2), {p.entries()})}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        run<T>(*in[0], *in[1], *out[0], *tessera::get<CsrAttr>(a).pattern);
      };
    });
    return table[static_cast<int>(in[0])];
  }
  template <class T>
  static void run(const View& x, const View& y, const View& s, const CsrPattern& p) {
    const Index k = x.shape.back(), batch = s.count() / std::max<Index>(1, p.entries());
    const Index per_row = k * (2 + p.entries() / std::max<Index>(1, p.rows()));
    for_rows(p.entries() ? batch * p.rows() : 0, per_row, [&](Index r) {
      const Index b = r / p.rows(), i = r % p.rows();
      const T* u = static_cast<const T*>(x.data) + r * k;
      const T* w = static_cast<const T*>(y.data) + b * p.cols() * k;
      T* o = static_cast<T*>(s.data) + b * p.entries();
      for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e) {
        const T* z = w + p.column()[e] * k;
        T total(0);
        for (Index c = 0; c < k; ++c) total = total + multiply(u[c], z[c]);
        o[e] = total;
      }
    });
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0] && linear[1])
      detail::no_rule(name, "transpose", "it is not linear in both operands together");
    const SourceLine w = detail::context_line();
    const CsrPatternPtr& p = a.get<CsrAttr>().pattern;
    if (linear[0])
      o[0] = apply(primitive<CsrMatmul>(), attributes(CsrAttr{p, false}), w, ct[0], conj(a.in[1]));
    if (linear[1])
      o[1] = apply(primitive<CsrMatmul>(), attributes(CsrAttr{p, true}), w, ct[0], conj(a.in[0]));
  }
};

void CsrMatmul::transpose(const Application& a, std::span<const bool> linear,
                          std::span<const Tensor> ct, std::span<Tensor> o) {
  if (linear[0] && linear[1])
    detail::no_rule(name, "transpose", "it is not linear in both operands together");
  const SourceLine w = detail::context_line();
  const auto& f = a.get<CsrAttr>();
  if (linear[0]) {
    const Tensor x = conj(a.in[1]);
    o[0] = apply(primitive<CsrSddmm>(), attributes(CsrAttr{f.pattern}), w, f.transposed ? x : ct[0],
                 f.transposed ? ct[0] : x);
  }
  if (linear[1])  // vectors are smaller than the matrix
    o[1] = conj(apply(primitive<CsrMatmul>(), attributes(CsrAttr{f.pattern, !f.transposed}), w,
                      a.in[0], conj(ct[0])));
}

TESSERA_REGISTER(CsrMatmul);
TESSERA_REGISTER(CsrSddmm);

void need_pattern(const char* op, const CsrPatternPtr& p, SourceLine line) {
  if (!p) fail(op, "the pattern is null", line);
}
/// x as a matrix; `vector` tells that it was one column.
Tensor as_columns(const char* op, const Tensor& x, bool& vector, SourceLine line) {
  if (x.ndim() == 0) fail(op, "needs a vector or a matrix, got " + to_string(x.type()), line);
  vector = x.ndim() == 1;
  return vector ? expand_dims(x, 1) : x;
}
/// Host integers as a tensor.
Tensor indices(std::span<const Index> v) {
  return from_span<Index>(v, {static_cast<Index>(v.size())});
}

/// Values [entries] in the type they are computed in; throws naming `op`.
Tensor entries_of(const char* op, const Arg& values, const CsrPattern& p) {
  const Tensor v = detail::to_tensor(op, values);
  if (v.ndim() != 1 || v.dim(0) != p.entries())
    fail(op, "values " + to_string(v.type()) + " do not fit " + described(p), values.line);
  return v;
}

}  // namespace

CooPattern csr_from_coo(Index rows, Index cols, std::span<const Index> row,
                        std::span<const Index> column) {
  const char* op = "csr_from_coo";
  if (rows < 0 || cols < 0)
    fail(op, "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols));
  if (row.size() != column.size())
    fail(op, std::to_string(row.size()) + " rows and " + std::to_string(column.size()) +
                 " columns are given");
  for (std::size_t k = 0; k < row.size(); ++k)
    if (row[k] < 0 || row[k] >= rows || column[k] < 0 || column[k] >= cols)
      fail(op, "triplet " + std::to_string(k) + " is at (" + std::to_string(row[k]) + ", " +
                   std::to_string(column[k]) + ") of a " + std::to_string(rows) + " x " +
                   std::to_string(cols) + " matrix");
  // By rows in one pass, then each row, which is short, by columns.
  std::vector<Index> begin(static_cast<std::size_t>(rows) + 1, 0), order(row.size());
  for (const Index i : row) ++begin[i + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (std::size_t k = 0; k < row.size(); ++k) order[next[row[k]]++] = static_cast<Index>(k);
  for (Index i = 0; i < rows; ++i)
    std::stable_sort(order.begin() + begin[i], order.begin() + begin[i + 1],
                     [&](Index a, Index b) { return column[a] < column[b]; });
  std::vector<Index> row_begin(static_cast<std::size_t>(rows) + 1, 0), merged, slot(row.size());
  Index last_row = -1;
  for (Index k : order) {
    if (last_row != row[k] || merged.back() != column[k]) {
      merged.push_back(column[k]);
      ++row_begin[row[k] + 1];
    }
    last_row = row[k];
    slot[k] = static_cast<Index>(merged.size()) - 1;
  }
  std::partial_sum(row_begin.begin(), row_begin.end(), row_begin.begin());
  return {csr_pattern(rows, cols, std::move(row_begin), std::move(merged)), std::move(slot)};
}
Tensor csr_values(const CooPattern& coo, Arg triplets) {
  const Tensor t = detail::to_tensor("csr_values", triplets);
  if (t.ndim() == 0 || t.dim(-1) != static_cast<Index>(coo.slot.size()))
    fail("csr_values",
         to_string(t.type()) + " does not end in the " + std::to_string(coo.slot.size()) +
             " triplets of the pattern",
         triplets.line);
  const Tensor first = moveaxis(t, -1, 0);
  Shape s = first.shape();
  s[0] = coo.pattern->entries();
  return moveaxis(scatter_add(zeros(s, t.dtype()), indices(coo.slot), first), 0, -1);
}

Tensor csr_matmul(Arg values, const CsrPatternPtr& pattern, Arg x, bool transposed) {
  need_pattern("csr_matmul", pattern, values.line);
  auto [v, y] = detail::one_dtype("csr_matmul", values, x);
  bool vector;
  y = as_columns("csr_matmul", y, vector, x.line);
  const Tensor z =
      apply(primitive<CsrMatmul>(), attributes(CsrAttr{pattern, transposed}), values.line, v, y);
  return vector ? squeeze(z, -1) : z;
}
Tensor csr_sddmm(const CsrPatternPtr& pattern, Arg x, Arg y) {
  need_pattern("csr_sddmm", pattern, x.line);
  auto [u, w] = detail::one_dtype("csr_sddmm", x, y);
  bool first, second;
  u = as_columns("csr_sddmm", u, first, x.line), w = as_columns("csr_sddmm", w, second, y.line);
  return apply(primitive<CsrSddmm>(), attributes(CsrAttr{pattern}), x.line, u, w);
}

namespace {
/// The position of each entry in the row-major dense matrix.
Tensor dense_positions(const CsrPattern& p) {
  std::vector<Index> at = p.row_of_entries();
  for (std::size_t e = 0; e < at.size(); ++e) at[e] = at[e] * p.cols() + p.column()[e];
  return indices(at);
}
}  // namespace

Tensor csr_to_dense(Arg values, const CsrPatternPtr& pattern) {
  need_pattern("csr_to_dense", pattern, values.line);
  const Tensor v = entries_of("csr_to_dense", values, *pattern);
  const Tensor flat = scatter_set(zeros({pattern->rows() * pattern->cols()}, v.dtype()),
                                  dense_positions(*pattern), v);
  return reshape(flat, {pattern->rows(), pattern->cols()});
}
Tensor csr_from_dense(Arg dense, const CsrPatternPtr& pattern) {
  need_pattern("csr_from_dense", pattern, dense.line);
  const Tensor d = detail::to_tensor("csr_from_dense", dense);
  if (d.shape() != Shape{pattern->rows(), pattern->cols()})
    fail("csr_from_dense", to_string(d.type()) + " does not fit " + described(*pattern),
         dense.line);
  return gather(flatten(d), dense_positions(*pattern));
}
Tensor csr_diagonal(Arg values, const CsrPatternPtr& pattern) {
  need_pattern("csr_diagonal", pattern, values.line);
  const Tensor v = entries_of("csr_diagonal", values, *pattern);
  std::vector<Index> entry, at;
  const auto column = pattern->column();
  for (Index i = 0; i < std::min(pattern->rows(), pattern->cols()); ++i) {
    const auto first = column.begin() + pattern->row_begin()[i],
               last = column.begin() + pattern->row_begin()[i + 1];
    const auto found = std::lower_bound(first, last, i);
    if (found == last || *found != i) continue;
    entry.push_back(found - column.begin());
    at.push_back(i);
  }
  return scatter_set(zeros({std::min(pattern->rows(), pattern->cols())}, v.dtype()), indices(at),
                     gather(v, indices(entry)));
}
Tensor csr_scale_rows(Arg values, const CsrPatternPtr& pattern, Arg scale) {
  need_pattern("csr_scale_rows", pattern, values.line);
  const Tensor v = entries_of("csr_scale_rows", values, *pattern),
               s = detail::to_tensor("csr_scale_rows", scale);
  if (s.shape() != Shape{pattern->rows()})
    fail("csr_scale_rows",
         "the scale " + to_string(s.type()) + " does not fit " + described(*pattern), scale.line);
  return v * gather(s, indices(pattern->row_of_entries()));
}

}  // namespace tessera
