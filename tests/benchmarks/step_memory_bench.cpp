// SPDX-License-Identifier: Apache-2.0
//
// Memory of one step of training in f32 with Adam: the highest resident memory of this process,
// less what it had idle, the weights and the moments. Beside it the memory of the step's plan.
//
//   step_memory_bench C|D|D_checkpointed [--size N] [--blocks N]
//
// C: U-Net 16-32-64 on 4 fields of N^2 (512). D: GPT of 8 blocks of 512, 8 heads, 4 texts of N
// tokens (2,048), 1,000 words; D_checkpointed: the same, every block checkpointed.
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <fstream>
#include <string>

using namespace tessera;

namespace {

/// Of /proc/self/status, in MiB: VmRSS, VmHWM.
double resident_mib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == field + ":") {
      double kib = 0;
      status >> kib;
      return kib / 1024;
    }
  return 0;
}

/// Blocks whose insides are computed again in reverse mode.
Tensor checkpointed_gpt(const nn::Gpt& g, const Tensor& words) {
  Tensor x = g.positions(g.words(words));
  for (const nn::TransformerBlock& block : g.blocks)
    x = checkpointed([](const nn::TransformerBlock& b, const Tensor& t) {
      return b(t, {.causal = true});
    })(block, x);
  return g.logits(g.last(x));
}

/// Three steps; the last has the memory of all later ones.
template <class N, class L>
void measure(N net, const L& loss, const std::vector<Tensor>& batch, double idle_mib) {
  double weights = 0;
  for (const Tensor& leaf : flatten_tree(net)) weights += 4.0 * static_cast<double>(leaf.size());
  const Optimizer o = adam(constant_rate(1e-3));
  const auto training = [&](const N& n, const OptimizerState& s, const std::vector<Tensor>& b) {
    const auto [value, g] = value_and_grad([&](const N& m) { return loss(m, b); })(n);
    const auto [next, state] = o.update(n, g, s);
    return std::tuple(next, state, value);
  };
  const auto step = jit(training);
  OptimizerState state = o.init(net);
  Tensor value;
  double seconds = 0;
  for (int k = 0; k < 3; ++k)
    seconds = benchmarks::seconds_of(
        [&] { std::tie(net, state, value) = step(std::move(net), std::move(state), batch); });
  constexpr double mib = 1 << 20;
  benchmarks::print_figure("loss", value.item(), "1");
  benchmarks::print_figure("weights_MiB", weights / mib, "MiB");
  benchmarks::print_figure("step_memory_MiB", resident_mib("VmHWM") - idle_mib - 3 * weights / mib,
                           "MiB");
  benchmarks::print_figure(
      "engine_peak_MiB", static_cast<double>(memory_stats().peak) / mib - 3 * weights / mib, "MiB");
  benchmarks::print_figure("step_seconds", seconds, "s");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "C";
  Index size = which == "C" ? 512 : 2048, blocks = 8;
  for (int k = 2; k + 1 < argc; k += 2)
    (std::string(argv[k]) == "--size" ? size : blocks) = std::atoi(argv[k + 1]);
  set_num_threads(2);
  const Tensor warm = normal(random_key(3), {300, 300}, Dtype::f32);
  matmul(warm, warm);
  const double idle = resident_mib("VmRSS");
  const Tensor key = random_key(1);
  if (which == "C") {
    const Tensor x = normal(random_key(2), {4, size, size}, Dtype::f32);
    measure(
        nn::unet(key, 1, 1, {.dtype = Dtype::f32}),
        [](const nn::UNet& u, const std::vector<Tensor>& b) {
          return nn::mean_square(squeeze(u(expand_dims(b[0], -1)), -1), b[1]);
        },
        {x, tanh(cumsum(x, -1))}, idle);
    return 0;
  }
  const Tensor text = cast(uniform(random_key(2), {4, size + 1}) * 1000, Dtype::i64);
  const bool again = which == "D_checkpointed";
  measure(
      nn::gpt(key,
              {.width = 512, .heads = 8, .blocks = blocks, .tokens = size, .dtype = Dtype::f32}),
      [again](const nn::Gpt& g, const std::vector<Tensor>& b) {
        return nn::cross_entropy(again ? checkpointed_gpt(g, b[0]) : g(b[0]), b[1]);
      },
      {contiguous(slice(text, 1, 0, size)), contiguous(slice(text, 1, 1, size + 1))}, idle);
  return 0;
}
