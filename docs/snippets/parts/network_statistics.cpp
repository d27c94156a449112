// SPDX-License-Identifier: Apache-2.0
// What docs/how-to/networks.md quotes of batch norm in a training.
#include <tessera/autodiff/nn.h>
#include <tessera/autodiff/ops.h>
#include <tessera/solvers/fit.h>

#include <iostream>

using namespace tessera;

/// Waves of random phase and length, [n, 16].
Tensor waves(std::uint64_t seed, Index n) {
  const Tensor r = uniform(random_key(seed), {n, 2});
  const Tensor t = linspace(0, 1, 16);
  return sin(6.28 * (expand_dims(select(r, 1, 0), 1) + t * (1 + expand_dims(select(r, 1, 1), 1))));
}

int main() {
  const Tensor train = waves(1, 256), validation = waves(2, 64);
  const auto [start, none] =
      nn::conv_vae(random_key(3), {.widths = {8, 16}, .lengths = {16}, .codes = 3});

  const auto loss = [none = none](const nn::ConvVae& v, const solvers::Batch<Tensor>& b) {
    const auto out = v.train(b.data, b.keys, none);  // norms by the batch itself
    return nn::mean_square(out.y, b.data) +
           1e-2 * nn::kl_normal(out.code.mean, out.code.log_variance);
  };
  const auto validate = [seen = slice(train, 0, 0, 128)](const nn::ConvVae& v,
                                                         const solvers::Batch<Tensor>& b) {
    const auto statistics = v.statistics_of(seen);  // norms by samples of the training
    return nn::mean_square(v.decode(v.encode(b.data, statistics).mean, statistics), b.data);
  };
  const solvers::FitOptions o{.epochs = 20, .batch = 32, .rate = constant_rate(5e-3)};
  auto state = solvers::begin_fit(start, o);
  solvers::fit(loss, validate, state, solvers::in_memory(train), solvers::in_memory(validation), o);
  std::cout << "reconstruction " << state.best_loss << " of a variance of 0.5\n";
  return state.best_loss < 0.2 ? 0 : 1;
}
