// SPDX-License-Identifier: Apache-2.0
// What docs/how-to/networks.md quotes of batch norm that runs along in a training.
#include <tessera/autodiff/nn.h>
#include <tessera/autodiff/ops.h>
#include <tessera/solvers/fit.h>

#include <iostream>

using namespace tessera;

struct Pairs {
  Tensor x, y;
  TESSERA_TREE(x, y)
};

Pairs products(std::uint64_t seed, Index n) {
  const Tensor x = 2.0 * uniform(random_key(seed), {n, 2}) - 1.0;
  return {x, slice(x, 1, 0, 1) * slice(x, 1, 1, 2)};
}

int main() {
  const Pairs train = products(2, 200), validation = products(3, 100);
  using nn::LayerKind;

  const auto loss = [](const nn::Sequential& net, const solvers::Batch<Pairs>& b) {
    const auto [y, seeing] = net.seeing(b.data.x, b.keys);  // norms by the batch
    return std::pair(nn::mean_square(y, b.data.y), seeing);
  };
  const auto validate = [](const nn::Sequential& net, const solvers::Batch<Pairs>& b) {
    return nn::mean_square(net(b.data.x), b.data.y);  // norms by what it has seen
  };
  solvers::FitOptions o{.epochs = 100, .batch = 50, .rules = {{"*.seen.*", 0}}};

  o.rate = cosine_rate(1e-2, 400);
  auto state = solvers::begin_fit(nn::sequential(random_key(1),
                                                 {{.kind = LayerKind::linear, .width = 32},
                                                  {.kind = LayerKind::batch_norm},
                                                  {.kind = LayerKind::activation},
                                                  {.kind = LayerKind::linear, .width = 1}},
                                                 {2}),
                                  o);
  solvers::fit(loss, validate, state, solvers::in_memory(train), solvers::in_memory(validation), o);
  std::cout << "loss " << state.best_loss << "\n";
  return state.best_loss < 5e-3 ? 0 : 1;
}
