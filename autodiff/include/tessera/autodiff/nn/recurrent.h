// SPDX-License-Identifier: Apache-2.0
//
// Layers with a memory, over series x [B..., steps, features]. K. Cho et al., arXiv:1406.1078.
#pragma once
#include "tessera/autodiff/nn/layers.h"

#include <utility>

namespace tessera::nn {

/// With (r, z, n) side by side in `input` and `state`, as PyTorch's:
///   r = logistic(x w_r + b_r + h u_r + c_r), z likewise,
///   n = tanh(x w_n + b_n + r (h u_n + c_n)), h' = (1 - z) n + z h.
struct Gru {
  Linear input;  ///< w [features, 3 width]
  Linear state;  ///< u [width, 3 width]
  TESSERA_TREE(input, state)
  /// From h [B..., width]: what h is after each step, [B..., steps, width], and after the last. One
  /// loop (loops.h), whatever the number of steps.
  std::pair<Tensor, Tensor> operator()(Arg x, Arg h) const;
  /// From h = 0.
  std::pair<Tensor, Tensor> operator()(Arg x) const;
};
/// Weights and biases uniform in +-1 / sqrt(width).
Gru gru(const Tensor& key, Index features, Index width, Dtype dtype = Dtype::f64);

}  // namespace tessera::nn
