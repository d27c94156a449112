// SPDX-License-Identifier: Apache-2.0
//
// First values of parameters, as functions of a key. X. Glorot & Y. Bengio, AISTATS 9 (2010) 249;
// K. He et al., arXiv:1502.01852; Y. LeCun et al., Efficient BackProp (1998).
#pragma once
#include "tessera/autodiff/ops/random.h"

#include <functional>

namespace tessera::nn {

/// Inputs that go into one output, and outputs that one input goes into.
struct Fans {
  Index in = 1, out = 1;
};
using Initializer =
    std::function<Tensor(const Tensor& key, const Shape& shape, Fans fans, Dtype dtype)>;

/// Uniform in +-sqrt(6 / (in + out)).
Initializer glorot_uniform();
/// Normal, variance 2 / (in + out).
Initializer glorot_normal();
/// Uniform in +-sqrt(6 / in).
Initializer he_uniform();
/// Normal, variance 2 / in.
Initializer he_normal();
/// Normal, variance 1 / in.
Initializer lecun_normal();
/// Uniform in +-1 / sqrt(in), PyTorch's for weights and biases of linear layers.
Initializer fan_in_uniform();
/// The same value everywhere.
Initializer constant(double value);

}  // namespace tessera::nn
