// SPDX-License-Identifier: Apache-2.0
// A network learns the product of two numbers; the rest of its loss is watched beside it.
#include <tessera/autodiff/jit.h>
#include <tessera/autodiff/nn.h>
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>

#include <cmath>
#include <iostream>

using namespace tessera;

int main() {
  const Tensor x = 2.0 * uniform(random_key(2), {200, 2}) - 1.0;
  const Tensor y = select(x, 1, 0) * select(x, 1, 1);

  nn::Mlp net = nn::mlp(random_key(1), {2, 16, 16, 1}, {.activation = nn::Activation::tanh});
  for (const std::string& name : leaf_names(net)) std::cout << name << " ";  // layers.0.w ...

  const auto loss = [&](const nn::Mlp& m) {
    const Tensor guess = squeeze(m(x), -1);
    return std::pair(nn::mean_square(guess, y), nn::r_squared(guess, y));
  };
  const Optimizer o = adam(cosine_rate(2e-2, 1000));
  const auto step = jit([&](const nn::Mlp& m, const OptimizerState& s) {
    const auto [found, g] = value_and_grad(loss)(m);
    const auto [next, state] = o.update(m, g, s);
    return std::tuple(next, state, found);
  });

  OptimizerState state = o.init(net);
  std::pair<Tensor, Tensor> found;
  for (int k = 0; k < 1000; ++k)
    std::tie(net, state, found) = step(std::move(net), std::move(state));
  std::cout << "\nmean square " << found.first.item() << ", R^2 " << found.second.item() << "\n";

  // The network is a function like any other, with derivatives of any order: here d(1 t)/dt.
  const auto along = [&](const Tensor& t) { return squeeze(net(stack({ones({}), t}, 0)), -1); };
  const Tensor slope = grad(along)(Tensor(0.5));
  std::cout << "slope " << slope.item() << "\n";
  return found.first.item() < 1e-4 && std::abs(slope.item() - 1) < 0.1 ? 0 : 1;
}
