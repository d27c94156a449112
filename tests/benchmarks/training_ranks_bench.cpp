// SPDX-License-Identifier: Apache-2.0
//
// Time of a training step on ranks: Adam on a perceptron 784-1024-1024-10 in f32, batches of 1,024,
// cross-entropy, all planned. Started by mpirun the parts of a batch are dealt to the ranks, alone
// one process has all on its threads.
//   [mpirun -n 2] training_ranks_bench [--parts N] [--threads N of each rank] [--rounds N]
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/parallel/batches.h"
#include "tessera/parallel/mpi.h"

#include <cstring>

using namespace tessera;
using namespace tessera::benchmarks;

int main(int argc, char** argv) {
  Index parts = 8;
  int threads = 1, rounds = 15;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (!std::strcmp(argv[k], "--parts")) parts = std::atoi(argv[k + 1]);
    if (!std::strcmp(argv[k], "--threads")) threads = std::atoi(argv[k + 1]);
    if (!std::strcmp(argv[k], "--rounds")) rounds = std::atoi(argv[k + 1]);
  }
  set_num_threads(threads);
  parallel::Communicator c =
      parallel::is_mpi_rank() ? parallel::mpi_communicator() : parallel::alone();
  constexpr Index kBatch = 1024;
  nn::Mlp net = nn::mlp(random_key(1), {784, 1024, 1024, 10}, {.linear = {.dtype = Dtype::f32}});
  const Tensor x = uniform(random_key(2), {kBatch, 784}, Dtype::f32);
  const Tensor label = cast(floor(uniform(random_key(3), {kBatch}) * 10.0), Dtype::i64);
  const auto loss = [](const nn::Mlp& m, const std::vector<Tensor>& part) {
    const double share = static_cast<double>(part[0].shape()[0]) / kBatch;
    return nn::cross_entropy(m(part[0]), part[1]) * share;
  };
  const Optimizer adam_rule = adam(constant_rate(1e-3));
  OptimizerState state = adam_rule.init(net);
  const auto step = jit([&](const nn::Mlp& m, const OptimizerState& s) {
    const auto [l, g] = value_and_grad(parallel::data_parallel(c, loss, {x, label}, parts))(m);
    const auto [next, next_state] = adam_rule.update(m, g, s);
    return std::tuple(next, next_state, l);
  });
  Tensor l;
  const auto take_step = [&] { std::tie(net, state, l) = step(net, state); };
  Samples times;
  for (int r = -3; r < rounds; ++r) {
    c.barrier();
    const double t = seconds_of(take_step);
    if (r >= 0) times.add(t);
  }
  c.finish();
  if (c.rank() != 0) return 0;
  print_figure("step_ms", 1e3 * times.median(), "ms");
  print_figure("step_least_ms", 1e3 * times.best(), "ms");
  print_figure("spread", times.spread(), "1");
  std::printf("# loss %.9g\n", static_cast<double>(l.item<float>()));
}
