// SPDX-License-Identifier: Apache-2.0
//
// Attention of 4,096 tokens, 8 heads of 64 features, causal and not, f32 and f64: values, and
// values with the gradients of all three operands, beside PyTorch's scaled_dot_product_attention,
// each with the better of one and two threads, and the process's memory beyond operands and
// results. `attention_bench f32` runs one type, `attention_bench f32 ROUNDS TOKENS` another number
// of rounds and tokens.
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops/attention.h"

#include <cmath>

namespace {

using namespace tessera;

Tensor numbers(Index tokens, double step) {
  const Shape s{tokens, 8, 64};
  return reshape(sin(step * arange(s.count(), Dtype::f64)), s);
}

struct Peers {
  bench::Peer &one, &two;
};

void run(const std::string& name, bool causal, Dtype t, Index tokens, int rounds, Peers torch) {
  const Tensor q = cast(numbers(tokens, 0.37), t), k = cast(numbers(tokens, 0.53), t),
               v = cast(numbers(tokens, 0.71), t), c = cast(numbers(tokens, 0.91), t);
  const auto f = [&](Tensor q, Tensor k, Tensor v) {
    return attention(q, k, v, {.causal = causal});
  };
  const auto value = [&] { return std::vector<Tensor>{f(q, k, v)}; };
  const auto gradients = [&] {
    const auto [gq, gk, gv] = vjp(f, q, k, v).second(c);
    return std::vector<Tensor>{gq, gk, gv};
  };
  const double one = static_cast<double>(q.size()) * static_cast<double>(size_of(t)),
               pairs = static_cast<double>(tokens) * static_cast<double>(tokens) *
                       (causal ? 0.5 : 1) * 8 * 64;
  const std::tuple<const char*, std::function<std::vector<Tensor>()>, double, double> parts[] = {
      {"_value", value, 1, 4}, {"_gradients", gradients, 4, 14}};
  for (const auto& [part, ours, results, flops] : parts) {
    set_num_threads(2);
    const bench::Memory m = bench::warm([&ours = ours] { ours(); });
    bench::print(name + part + "_memory_mib", (m.process - results * one) / 1048576, "MiB");
    std::vector<double> mine[2], theirs[2];
    if (torch.one.there()) {
      for (bench::Peer* peer : {&torch.one, &torch.two}) peer->warm(name + part);
      bench::must_agree((name + part).c_str(), ours(), torch.two.result(name + part),
                        t == Dtype::f32 ? 1e-4 : 1e-11);
    }
    for (int r = 0; r < rounds; ++r)
      for (const int threads : {1, 2}) {
        set_num_threads(threads);
        mine[threads - 1].push_back(bench::seconds_of([&ours = ours] { ours(); }));
        if (torch.one.there())
          theirs[threads - 1].push_back(
              (threads == 1 ? torch.one : torch.two).seconds(name + part));
      }
    const double best = std::min(bench::median(mine[0]), bench::median(mine[1]));
    bench::print(name + part + "_ms", 1e3 * best, "ms");
    bench::print(name + part + "_spread",
                 bench::spread(bench::median(mine[0]) == best ? mine[0] : mine[1]), "1");
    bench::print(name + part + "_rate", flops * pairs / best / 1e9, "GFLOP/s");
    if (!torch.one.there()) continue;
    const double other = std::min(bench::median(theirs[0]), bench::median(theirs[1]));
    bench::print(name + part + "_torch_ms", 1e3 * other, "ms");
    bench::print(name + part + "_ratio", other / best, "x");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const Index tokens = argc > 3 ? std::atoi(argv[3]) : 4096;
  bench::print_machine();
  const std::map<std::string, Tensor> arrays = {{"q", numbers(tokens, 0.37)},
                                                {"k", numbers(tokens, 0.53)},
                                                {"v", numbers(tokens, 0.71)},
                                                {"c", numbers(tokens, 0.91)}};
  bench::Peer one("attention_peer.py", "torch", arrays, 1),
      two("attention_peer.py", "torch", arrays, 2);
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const std::string type = t == Dtype::f32 ? "f32" : "f64";
    if (!only.empty() && only != type) continue;
    const int times =
        t == Dtype::f32 ? rounds : std::min(rounds, 3);  // f64 is said, not held to a bar
    run("all_" + type, false, t, tokens, times, {one, two});
    run("causal_" + type, true, t, tokens, times, {one, two});
  }
}
