// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/graph.h"

namespace tessera::detail {

/// A flag for each value of g: those with these numbers.
std::vector<bool> flagged(const Graph& g, std::span<const Graph::Id> ids);
/// Whether a result of e is used and not given.
bool asked_for(const Graph::Equation& e, const std::vector<bool>& used,
               const std::vector<bool>& given);
/// Which values of g it takes to compute `outputs`, given others.
std::vector<bool> needed(const Graph& g, std::span<const Graph::Id> given,
                         std::span<const Graph::Id> outputs);
/// Whether one of its results is among the flagged values.
inline bool is_used(const Graph::Equation& e, const std::vector<bool>& used) {
  for (Graph::Id k = 0; k < e.out_count; ++k)
    if (used[e.out_begin + k]) return true;
  return false;
}
inline Ordering order_of(const Graph::Equation& e) { return e.primitive->order(e.attr.get()); }
/// The strictest of its equations'.
Ordering order_of(const Graph& g);
/// Operations that repeat an earlier one are replaced by it, those that no output needs go. Values
/// keep their numbers.
void share_repeated_work(Graph& g);

/// Runs one equation on its operands.
using EquationFn = std::function<void(const Graph::Equation& e, std::span<const Tensor* const> in,
                                      std::span<Tensor> out)>;
/// `evaluate` with `apply` in place of dispatch.
std::vector<Tensor> evaluate_by(const Graph& g, std::span<const Tensor> inputs,
                                const EquationFn& apply);

}  // namespace tessera::detail
