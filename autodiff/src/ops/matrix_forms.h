// SPDX-License-Identifier: Apache-2.0
//
// Small matrix expressions that the derivative rules of decompositions share.
#pragma once
#include "tessera/autodiff/ops/linalg.h"
#include "tessera/autodiff/primitive.h"

namespace tessera::detail {

/// x^H of the last two axes.
Tensor H(const Tensor& x);
/// (x + x^H) / 2.
Tensor hermitian_part(const Tensor& x);
/// [..., n] on the diagonal of zeros [..., n, n].
Tensor on_diagonal(const Tensor& x);
/// Ones with 1/2 on the diagonal, [n, n].
Tensor half_diagonal(Index n, Dtype dtype);
/// [m, n] bool: column - row <= k.
Tensor below(Index m, Index n, Index k);
/// The triangular matrices that have no zero on the diagonal; those that have one, and with it no
/// inverse, as NaN.
Tensor nan_if_singular(const Tensor& triangular);
/// 1 [..., 1] with a derivative that is NaN for the matrices that have any `here` in [..., m, n]: a
/// factor of derivatives whose own derivatives do not exist. `x` is what moves.
Tensor differentiable_once(const Tensor& here, const Tensor& x);
/// Where x [..., n], n eigenvalues or singular values, is no more than rounding: |x| <= 8 n eps max
/// |x|.
Tensor negligible(const Tensor& x);
/// Which of them are equal but for rounding: bool [..., n, n], |x_j - x_i| <= 8 n eps max |x|,
/// false on the diagonal.
Tensor equal_pairs(const Tensor& x);
/// 1 / x; where `none` holds NaN, or on request 0 with a derivative that is NaN.
Tensor inverse_or(const Tensor& none, const Tensor& x, Degenerate degenerate);
/// The same of gaps [..., n, n], and 0 on the diagonal: how far eigenvectors turn towards each
/// other.
Tensor inverse_gaps(const Tensor& gap, const Tensor& equal, Degenerate degenerate);
/// What eigh, svd and eig are told about their derivatives.
struct SpectrumAttr {
  bool zero;
  Degenerate degenerate() const { return zero ? Degenerate::zero : Degenerate::nan; }
  TESSERA_ATTRIBUTES(zero)
};
const AttributesPtr& spectrum(Degenerate degenerate);
/// Two operands in their common inexact type; throws naming `op`.
std::pair<Tensor, Tensor> one_dtype(const char* op, const Arg& a, const Arg& b);
/// x with real diagonal values as complex ones where `like` is complex.
Tensor as_type(const Tensor& x, Dtype dtype);

}  // namespace tessera::detail
