// SPDX-License-Identifier: Apache-2.0
// What stands around the price of a step of training.
#include <tessera/autodiff/dryrun.h>
#include <tessera/autodiff/nn.h>
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>

#include <iostream>

using namespace tessera;

int main() {
  const nn::Mlp net = nn::mlp(random_key(1), {2, 64, 1});
  const Optimizer o = adam(constant_rate(1e-3));
  const OptimizerState state = o.init(net);
  const auto train_step = [&](const nn::Mlp& m, const OptimizerState& s, const Tensor& x,
                              const Tensor& y) {
    const auto [loss, g] =
        value_and_grad([&](const nn::Mlp& n) { return nn::mean_square(n(x), y); })(m);
    const auto [next, now] = o.update(m, g, s);
    return std::tuple(next, now, loss);
  };

  const DryRun d = dryrun(train_step, given("weights", net), given("moments", state),
                          named("batch", stand_in({Dtype::f64, {1000000, 2}})),
                          named("targets", stand_in({Dtype::f64, {1000000, 1}})));
  std::cout << to_string(d);

  return d.peak > 5e8 && d.lines.size() == 2 ? 0 : 1;
}
