// SPDX-License-Identifier: Apache-2.0
//
// Jacobians and Hessians that are mostly zero, at the cost of a few directional derivatives:
//
//   const auto jacobian = sparse_jacobian(residual, x);  // finds the pattern at x, colours it
//   Tensor v = jacobian(x2);  // [entries], in the order of jacobian.pattern()
//   const auto hessian = sparse_hessian(energy, x);
//   LinearOperator a = LinearOperator::csr(hessian(x2), hessian.pattern());
//
// Rows are the elements of f(x), columns those of x, both in row-major order. The values are made
// of engine operations: they run in jit and have derivatives.
//
// Pattern: index sets are pushed through the recorded graph. Element-wise operations, shape
// operations, gather, scatter and reductions are exact where indices are constant; in a product of
// matrices constants that are zero count as zero (not those of a tensor that is itself traced),
// csr_matmul and csr_sddmm follow their pattern; of all else every result depends on every element
// that reaches the operation. So the pattern holds
// whatever the Jacobian has at every x for which native `if`s go the same way as at the x given;
// entries that are zero by chance are kept.
//
// Compression: columns that share no row (for Jacobians; A. Curtis, M. Powell & J. Reid, 1974; T.
// Coleman & J. Moré, SIAM J. Numer. Anal. 20 (1983) 187) are added into one direction; for Hessians
// a star colouring lets symmetry tell columns apart that do share one (A. Gebremedhin, F. Manne &
// A. Pothen, SIAM Rev. 47 (2005) 629). Greedy, over several orders of the columns.
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops/sparse.h"

#include <memory>
#include <utility>
#include <vector>

namespace tessera {

/// A colour 0 ... count-1 for each column (or row, or vertex).
struct Coloring {
  std::vector<Index> color;
  Index count = 0;
};
/// Columns of one colour share no row.
Coloring color_columns(const CsrPattern& pattern);
/// Rows of one colour share no column.
Coloring color_rows(const CsrPattern& pattern);
/// For a symmetric pattern: neighbours differ, and every path of four vertices has three colours or
/// more.
Coloring color_star(const CsrPattern& pattern);

/// What is differentiated at once: columns by forward mode, rows by reverse mode; or whichever
/// needs fewer.
enum class Compress { fewer, columns, rows };

namespace detail {

CsrPatternPtr sparsity(const FlatFunction& f, const Tensor& x);
/// The columns of the first of several inputs, whatever values these have: f, which reads none, is
/// recorded at their types.
CsrPatternPtr sparsity_anywhere(const FlatFunction& f, const std::vector<Type>& in);
/// Directions [colours, columns or rows], and where each entry stands in the compressed products,
/// flattened.
struct Compression {
  CsrPatternPtr pattern;
  bool by_columns = true;
  Index colors = 0;
  Tensor seeds, slots;
};
Compression compress_jacobian(CsrPatternPtr pattern, Dtype dtype, Compress how);
/// `half` may lack entries whose mirror image is there, and the diagonal.
Compression compress_hessian(const CsrPatternPtr& half, Dtype dtype);
Tensor compressed_values(const FlatFunction& f, const Tensor& x, const Compression& c);

template <class F>
FlatFunction of_one_tensor(const F& f) {
  return [f](const std::vector<Tensor>& x) { return std::vector<Tensor>{f(x[0])}; };
}
}  // namespace detail

/// x -> the values [entries] of a sparse Jacobian or Hessian.
class SparseDerivative {
 public:
  SparseDerivative(FlatFunction f, detail::Compression c)
      : f_(std::move(f)), c_(std::make_shared<detail::Compression>(std::move(c))) {}
  Tensor operator()(const Tensor& x) const { return detail::compressed_values(f_, x, *c_); }
  const CsrPatternPtr& pattern() const { return c_->pattern; }
  Index colors() const { return c_->colors; }         ///< directional derivatives per call
  bool by_columns() const { return c_->by_columns; }  ///< forward mode; else reverse

 private:
  FlatFunction f_;
  std::shared_ptr<const detail::Compression> c_;
};

/// Where the Jacobian of f, from a real tensor to a real tensor, may differ from zero.
template <class F>
CsrPatternPtr jacobian_sparsity(const F& f, const Tensor& x) {
  return detail::sparsity(detail::of_one_tensor(f), x);
}
/// The same for the Hessian of a real scalar f: symmetric, with the whole diagonal.
template <class F>
CsrPatternPtr hessian_sparsity(const F& f, const Tensor& x) {
  return detail::compress_hessian(detail::sparsity(detail::of_one_tensor(grad(f)), x), x.dtype())
      .pattern;
}
template <class F>
SparseDerivative sparse_jacobian(const F& f, const Tensor& x, Compress how = Compress::fewer) {
  const FlatFunction flat = detail::of_one_tensor(f);
  return {flat, detail::compress_jacobian(detail::sparsity(flat, x), x.dtype(), how)};
}
template <class F>
SparseDerivative sparse_hessian(const F& f, const Tensor& x) {
  const FlatFunction gradient = detail::of_one_tensor(grad(f));
  return {gradient, detail::compress_hessian(detail::sparsity(gradient, x), x.dtype())};
}

}  // namespace tessera
