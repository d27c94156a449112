// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/jit.h"

namespace tessera::detail {

/// The graph equation by equation, looked at as it runs. `times` may be null.
std::vector<Tensor> evaluate_watched(const Graph& g, std::span<const Tensor> inputs, Trap trap,
                                     std::vector<OperationTime>* times);

/// Adds those of one run to others, the dearest first.
void add_times(const std::vector<OperationTime>& run, std::vector<OperationTime>& all);

}  // namespace tessera::detail
