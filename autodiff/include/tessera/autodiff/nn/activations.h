// SPDX-License-Identifier: Apache-2.0
//
// Element-wise functions between layers. D. Hendrycks & K. Gimpel, arXiv:1606.08415: GELU, and SiLU
// as x logistic(x); D.-A. Clevert et al., arXiv:1511.07289: ELU.
#pragma once
#include "tessera/autodiff/tensor.h"

#include <optional>
#include <span>
#include <string_view>

namespace tessera::nn {

/// x where x > 0, else 0; the derivative at 0 is 0. NaN stays.
Tensor relu(Arg x);
/// x where x > 0, else slope x; the derivative at 0 is the slope.
Tensor leaky_relu(Arg x, double slope = 0.01);
/// x where x > 0, else e^x - 1.
Tensor elu(Arg x);
/// x Phi(x), Phi the normal distribution: x erfc(-x / sqrt(2)) / 2, without cancellation left of 0.
Tensor gelu(Arg x);
/// Its approximation x (1 + tanh u) / 2 = x logistic(2 u), u = sqrt(2/pi) (x + 0.044715 x^3).
Tensor gelu_tanh(Arg x);
/// x logistic(x), also known as swish.
Tensor silu(Arg x);

/// The activations by name, as a configuration says them.
enum class Activation {
  identity,
  relu,
  leaky_relu,
  elu,
  gelu,
  gelu_tanh,
  silu,
  softplus,
  tanh,
  logistic,
  sine
};
Tensor activate(Activation a, Arg x);
std::string_view name_of(Activation a);
/// All names, in the order of the enumeration.
std::span<const std::string_view> activation_names();
std::optional<Activation> activation_of(std::string_view name);

}  // namespace tessera::nn
