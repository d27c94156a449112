// SPDX-License-Identifier: Apache-2.0
#pragma once
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
/// Which values of g it takes to compute `outputs`, given others.
std::vector<bool> needed(const Graph& g, std::span<const Graph::Id> given, std::span<const Graph::Id> outputs);
/// Whether one of its results is among the flagged values.
inline bool is_used(const Graph::Equation& e, const std::vector<bool>& used) {
  for (Graph::Id k = 0; k < e.out_count; ++k)
    if (used[e.out_begin + k]) return true;
  return false;
}
/// Calls the jvp rule of every equation that a tangent reaches and a result of g needs. `values` and `t` hold the value and the tangent of
/// each number of the graph.
void push_tangents(const Graph& g, std::span<const Tensor> values, std::vector<Tensor>& t);
/// Operations that repeat an earlier one are replaced by it, those that no output needs go. Values keep their numbers.
void share_repeated_work(Graph& g);
/// Where x is the value y that was chosen among such: equal, or NaN.
Tensor is_value(const Tensor& x, const Tensor& y);
const Primitive& mul_primitive();
const Primitive& stop_gradient_primitive();
/// The primitive that gives the same bits as `p` (a sum, of type `t`) of a product, from the factors; null if none
/// is cheaper.
const Primitive* product_form(const Primitive& p, const Attributes* a, const Type& t);
/// The user's line of the operation whose rule is running.
Where context_where();

}  // namespace tessera::detail
