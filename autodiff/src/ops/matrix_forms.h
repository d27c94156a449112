// SPDX-License-Identifier: Apache-2.0
//
// Small matrix expressions that the derivative rules of decompositions share.
#pragma once
#include "tessera/autodiff/tensor.h"

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
/// 1 / x, and 0 where x is 0.
Tensor reciprocal_or_zero(const Tensor& x);
/// The triangular matrices that have no zero on the diagonal; those that have one, and with it no inverse, as NaN.
Tensor nan_if_singular(const Tensor& triangular);
/// Two operands in their common inexact type; throws naming `op`.
std::pair<Tensor, Tensor> one_dtype(const char* op, const Arg& a, const Arg& b);
/// x with real diagonal values as complex ones where `like` is complex.
Tensor as_type(const Tensor& x, Dtype dtype);

}  // namespace tessera::detail
