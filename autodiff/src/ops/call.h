// SPDX-License-Identifier: Apache-2.0
//
// Public functions of one primitive each: operands of all kinds come in, types and shapes meet, P
// is applied.
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

namespace tessera {

using In = std::span<const Tensor>;

template <class P>
Tensor unary(const Arg& x) {
  if (x.tensor && x.tensor->defined()) return apply(primitive<P>(), {}, x.line, *x.tensor);
  return apply(primitive<P>(), {}, x.line, detail::to_tensor(P::name, x));
}
template <class P>
Tensor binary(const Arg& a, const Arg& b) {
  if (a.tensor && b.tensor && a.tensor->defined() && b.tensor->defined() &&
      a.tensor->dtype() == b.tensor->dtype() && a.tensor->shape() == b.tensor->shape())
    return apply(primitive<P>(), {}, a.line, *a.tensor, *b.tensor);
  const auto [x, y] = detail::meet(P::name, a, b);
  return apply(primitive<P>(), {}, a.line, x, y);
}

}  // namespace tessera
