// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/activations.h"

#include "../base/context.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <numbers>

namespace tessera::nn {

Tensor relu(Arg x) {
  const detail::CalledAt called(x.line);
  return where(less_equal(x, 0), 0, x);
}

Tensor leaky_relu(Arg x, double slope) {
  const detail::CalledAt called(x.line);
  return where(less_equal(x, 0), mul(x, slope), x);
}

Tensor elu(Arg x) {
  const detail::CalledAt called(x.line);
  // e^x is taken left of 0 alone: beyond, where it overflows, its derivative would be 0 times
  // infinity.
  const Tensor right = greater(x, 0);
  return where(right, x, expm1(where(right, 0, x)));
}

Tensor gelu(Arg x) {
  const detail::CalledAt called(x.line);
  return mul(mul(x, 0.5), erfc(mul(x, -1 / std::numbers::sqrt2)));
}

Tensor gelu_tanh(Arg x) {
  const detail::CalledAt called(x.line);
  const double c = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // 2 sqrt(2/pi)
  const Tensor u = mul(x, 1 + 0.044715 * square(x)) * c;
  return mul(x, logistic(u));
}

Tensor silu(Arg x) {
  const detail::CalledAt called(x.line);
  return mul(x, logistic(x));
}

Tensor activate(Activation a, Arg x) {
  switch (a) {
    case Activation::identity:
      return x.tensor ? *x.tensor : detail::to_tensor("identity", x);
    case Activation::relu:
      return relu(x);
    case Activation::leaky_relu:
      return leaky_relu(x);
    case Activation::elu:
      return elu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::silu:
      return silu(x);
    case Activation::softplus:
      return softplus(x);
    case Activation::tanh:
      return tanh(x);
    case Activation::logistic:
      return logistic(x);
    case Activation::sine:
      return sin(x);
  }
  fail("activate", "no such activation");
}

namespace {
constexpr std::string_view kNames[] = {"identity", "relu",      "leaky_relu", "elu",
                                       "gelu",     "gelu_tanh", "silu",       "softplus",
                                       "tanh",     "logistic",  "sine"};
}

std::string_view name_of(Activation a) { return kNames[static_cast<std::size_t>(a)]; }
std::span<const std::string_view> activation_names() { return kNames; }
std::optional<Activation> activation_of(std::string_view name) {
  const auto at = std::ranges::find(kNames, name);
  if (at == std::end(kNames)) return std::nullopt;
  return static_cast<Activation>(at - std::begin(kNames));
}

}  // namespace tessera::nn
