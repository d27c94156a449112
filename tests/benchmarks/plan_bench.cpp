// SPDX-License-Identifier: Apache-2.0
//
// What it takes to record and plan the gradient of a function of 1,000 operations, products of
// 64 x 64 and tanh in turn, of 10,000, and of JAX to trace and compile the same of 1,000; how often
// a step is planned whose rate, weights and flag change.
//
//   plan_bench [--no-peer]
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <cstring>

namespace {

using namespace tessera;
using Weights = std::vector<Tensor>;

constexpr Index kSize = 64;

/// x <- tanh(x w_k), w_0 ... w_7 in turn; the sum at the end.
Tensor chain(Tensor x, const Weights& w, int operations) {
  for (int k = 0; k < operations / 2; ++k)
    x = tanh(matmul(x, w[static_cast<std::size_t>(k) % w.size()]));
  return sum(x);
}
Weights weights(std::uint64_t seed) {
  Weights w;
  for (std::uint64_t k = 0; k < 8; ++k)
    w.push_back(normal(random_key(seed + k), {kSize, kSize}, Dtype::f32) * 0.125F);
  return w;
}

struct Parts {
  double record = INFINITY, simplify = INFINITY, plan = INFINITY, whole = INFINITY;
};
/// The least of so many tries: of the parts, and of the first call of a jit less that of a later
/// one.
Parts planning(int operations, int tries) {
  const Tensor x = normal(random_key(3), {kSize, kSize}, Dtype::f32);
  const Weights w = weights(10);
  const auto f = [operations](const Tensor& x, const Weights& w) {
    return value_and_grad([&](const std::pair<Tensor, Weights>& p) {
      return chain(p.first, p.second, operations);
    })(std::pair(x, w));
  };
  const FlatFunction flat = [&](const std::vector<Tensor>& a) {
    const auto [y, g] = f(a[0], Weights(a.begin() + 1, a.end()));
    std::vector<Tensor> all{y, g.first};
    all.insert(all.end(), g.second.begin(), g.second.end());
    return all;
  };
  const std::vector<Type> types(1 + w.size(), x.type());
  Parts p;
  double first = INFINITY, later = INFINITY;
  for (int k = 0; k < tries; ++k) {
    Graph g, s;
    std::unique_ptr<Plan> plan;
    p.record = std::min(p.record, bench::seconds_of([&] { g = trace(flat, types); }));
    p.simplify = std::min(p.simplify, bench::seconds_of([&] { s = simplify(g); }));
    p.plan = std::min(p.plan, bench::seconds_of([&] { plan = std::make_unique<Plan>(s); }));
    const auto planned = jit(f);
    first = std::min(first, bench::seconds_of([&] { planned(x, w); }));
    later = std::min(later, bench::seconds_of([&] { planned(x, w); }));
    if (k == 0)
      std::printf("# %d operations: %zu recorded with the gradient, %zu remain, %zu steps\n",
                  operations, g.equations.size(), s.equations.size(), plan->steps());
  }
  p.whole = first - later;
  return p;
}
void print_parts(const std::string& name, const Parts& p) {
  bench::print(name + "_record_ms", 1e3 * p.record, "ms");
  bench::print(name + "_simplify_ms", 1e3 * p.simplify, "ms");
  bench::print(name + "_layout_ms", 1e3 * p.plan, "ms");
  bench::print(name + "_ms", 1e3 * (p.record + p.simplify + p.plan), "ms");
  bench::print(name + "_first_call_ms", 1e3 * p.whole, "ms");
}

/// How often a step of Adam is recorded that is called with other rates, weights, batches, flags.
int recordings() {
  int count = 0;
  const auto step = jit([&count](const Weights& w, const OptimizerState& s, const Tensor& x,
                                 const Tensor& rate, const Tensor& small) {
    ++count;
    const auto g = grad([&](const Weights& v) { return chain(x, v, 20); })(w);
    return adam(constant_rate(where(small, 0.1 * rate, rate))).update(w, g, s);
  });
  for (int k = 0; k < 12; ++k) {
    const Weights w = weights(100 + static_cast<std::uint64_t>(k));
    const OptimizerState s = adam(constant_rate(1.0)).init(w);
    step(w, s, normal(random_key(5), {kSize, kSize}, Dtype::f32), Tensor(0.1 * k),
         Tensor(double(k % 3)) < 0.5);
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  set_num_threads(2);
  bench::print_machine();
  print_parts("plan_1000", planning(1000, 9));
  print_parts("plan_10000", planning(10000, 3));
  bench::print("plans_of_a_step", recordings(), "1");
  if (argc > 1 && std::strcmp(argv[1], "--no-peer") == 0) return 0;
  std::map<std::string, Tensor> arrays{{"size", tensor({double(kSize)})}};
  bench::Peer jax("plan_jax.py", "jax", arrays, 2);
  if (!jax.there()) return 0;
  double trace = INFINITY, compile = INFINITY;
  for (int k = 0; k < 3; ++k) {
    trace = std::min(trace, jax.seconds("trace"));
    compile = std::min(compile, jax.seconds("compile"));
  }
  bench::print("jax_1000_trace_ms", 1e3 * trace, "ms");
  bench::print("jax_1000_ms", 1e3 * (trace + compile), "ms");
  return 0;
}
