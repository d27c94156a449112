// SPDX-License-Identifier: Apache-2.0
//
// Memory of training 50 million f32 weights with Adam: a linear network of five layers, a batch of
// 8, the step planned and its arguments given away. Weights, two moments and gradients are four
// times the weights' bytes.
#include "measure.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

using namespace tessera;

int main() {
  constexpr Index width = 3162;
  nn::Mlp net =
      nn::mlp(random_key(1), std::vector<Index>(6, width),
              {.activation = nn::Activation::tanh, .linear = {.bias = false, .dtype = Dtype::f32}});
  double bytes = 0;
  for (const Tensor& leaf : flatten_tree(net)) bytes += 4.0 * static_cast<double>(leaf.size());
  const Tensor x = normal(random_key(2), {8, width}, Dtype::f32);
  const Optimizer o = adam(constant_rate(1e-4));
  const auto step = jit([&](const nn::Mlp& m, const OptimizerState& s) {
    const auto [l, g] =
        value_and_grad([&](const nn::Mlp& m) { return nn::mean_square(m(x), x); })(m);
    const auto [next, state] = o.update(m, g, s);
    return std::tuple(next, state, l);
  });
  OptimizerState state = o.init(net);
  Tensor loss;
  release_cached_memory();
  reset_peak_memory();
  for (int k = 0; k < 3; ++k) std::tie(net, state, loss) = step(std::move(net), std::move(state));
  benchmarks::print_figure("adam_weights", bytes / 4, "numbers");
  benchmarks::print_figure("adam_memory_ratio", static_cast<double>(memory_stats().peak) / bytes,
                           "x");
  return 0;
}
