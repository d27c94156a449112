// SPDX-License-Identifier: Apache-2.0
#include "loops_internal.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {

Tensor choose(const Tensor& lanes, const Tensor& a, const Tensor& b) {
  return where(broadcast_in_dim(lanes, a.shape(), {0}), a, b);
}

Lender::Lender(const Tensor& lanes)
    : lanes_(lanes), first_(lanes.size() ? argmax(cast(lanes, Dtype::i32), 0) : Tensor()) {}

Tensor Lender::operator()(const Tensor& x) const {
  if (!first_.defined()) return x;
  return choose(lanes_, x, stop_gradient(broadcast_to(take(x, first_), x.shape())));
}

}  // namespace tessera::detail
