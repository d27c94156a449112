// SPDX-License-Identifier: Apache-2.0
//
// What rules are made of.
#pragma once
#include "../base/context.h"
#include "tessera/autodiff/graph.h"

namespace tessera::detail {

/// Zeros that occupy one element.
Tensor zeros_of(const Type& t);
inline std::vector<Tensor> zeros_of_all(const Types& types) {
  std::vector<Tensor> z;
  for (const Type& t : types) z.push_back(zeros_of(t));
  return z;
}
/// Sum of two tangents or cotangents, of which an undefined one is zero.
Tensor add_tangents(const Tensor& a, const Tensor& b);
/// x with a leading axis of `size`, repeated unless it has one already.
Tensor with_batch(const Tensor& x, bool batched, Index size);

}  // namespace tessera::detail
