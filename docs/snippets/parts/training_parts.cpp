// SPDX-License-Identifier: Apache-2.0
// What docs/how-to/networks.md quotes of a training.
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
  return {x, select(x, 1, 0) * select(x, 1, 1)};
}

int main() {
  const Pairs train = products(2, 200), validation = products(3, 100);

  const auto loss = [](const nn::Mlp& m, const solvers::Batch<Pairs>& b) {
    return nn::mean_square(squeeze(m(b.data.x), -1), b.data.y);
  };
  const solvers::FitOptions o{.epochs = 200,
                              .batch = 50,
                              .rate = cosine_rate(1e-2, 800),
                              .early_stopping = {{.patience = 40}}};
  const nn::Mlp start = nn::mlp(random_key(1), {2, 32, 1}, {.activation = nn::Activation::tanh});
  auto state = solvers::begin_fit(start, o);
  const auto end =
      solvers::fit(loss, state, solvers::in_memory(train), solvers::in_memory(validation), o);
  std::cout << to_string(end) << "; best epoch " << state.best_epoch << ", loss " << state.best_loss
            << "\n";
  return state.best_loss < 1e-3 ? 0 : 1;
}
