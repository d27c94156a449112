// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/graph.h"

namespace tessera::detail {

/// Calls the jvp rule of every equation that a tangent reaches and a result of g needs. `values`
/// and `t` hold the value and the tangent of each number of the graph.
void push_tangents(const Graph& g, std::span<const Tensor> values, std::vector<Tensor>& t);

}  // namespace tessera::detail
