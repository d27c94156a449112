// SPDX-License-Identifier: Apache-2.0
//
// What plans hold and what they ask of the system.
//
// plans_held_ratio: memory of the engine after a gradient was planned for 100 batch sizes, over the
// arena of the largest plan; plans_heap_ratio: all that is allocated, plans themselves included.
//
// step_mallocs of A to E: most calls of malloc and its like in a run of the planned steps of a
// training, from the third run on, on one thread; shared_step_mallocs: the mean of 30 runs on two,
// where a thread may meet a task for the first time later; and call_mallocs, of the call of a
// compiled function around them, which flattens trees and makes handles of results. Networks as in
// training_steps_bench.
#include "autodiff/src/exec/plan_run.h"
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>

// ---- the system's allocation, counted ----

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {
std::atomic<long> calls{0};
void count() { calls.fetch_add(1, std::memory_order_relaxed); }
}  // namespace

extern "C" {
void* malloc(std::size_t n) { return count(), __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t size) { return count(), __libc_calloc(n, size); }
void* realloc(void* p, std::size_t n) { return count(), __libc_realloc(p, n); }
void* memalign(std::size_t a, std::size_t n) { return count(), __libc_memalign(a, n); }
void* aligned_alloc(std::size_t a, std::size_t n) { return count(), __libc_memalign(a, n); }
int posix_memalign(void** p, std::size_t a, std::size_t n) {
  *p = (count(), __libc_memalign(a, n));
  return *p ? 0 : ENOMEM;
}
}

namespace {

using namespace tessera;
using Batch = std::vector<Tensor>;
using benchmarks::print_figure;

void plans_of_a_hundred_sizes() {
  const nn::Mlp net = nn::mlp(random_key(1), {64, 256, 256, 10});
  const auto loss = [](const nn::Mlp& m, const Tensor& x) { return mean(square(m(x))); };
  const auto step =
      jit([&](const nn::Mlp& m, const Tensor& x) { return value_and_grad(loss)(m, x); });
  const auto batch = [](Index rows) { return normal(random_key(2), {rows, 64}); };
  const auto heap = [] {
    release_cached_memory();
    const struct mallinfo2 now = mallinfo2();
    return static_cast<double>(now.uordblks + now.hblkhd);
  };
  step(net, batch(3));
  const double before = heap(), in_use = static_cast<double>(memory_stats().in_use);
  for (Index k = 1; k <= 100; ++k) step(net, batch(64 * k));
  const std::vector<Tensor> leaves = flatten_tree(net, batch(6400));
  std::vector<Type> types;
  for (const Tensor& t : leaves) types.push_back(t.type());
  const double held = static_cast<double>(memory_stats().in_use) - in_use, all = heap() - before;
  const auto largest = [&] {
    const Plan plan(simplify(trace(
        [&](const std::vector<Tensor>& l) {
          return flatten_tree(value_and_grad(loss)(unflatten_tree(net, l), l.back()));
        },
        types)));
    return static_cast<double>(plan.arena_bytes());
  }();
  print_figure("largest_plan_MiB", largest / (1 << 20), "MiB");
  print_figure("plans_held_ratio", held / largest, "x");
  print_figure("plans_heap_ratio", all / largest, "x");
}

/// Steps of Adam on one batch.
template <class N, class L>
void count_in(const std::string& name, const N& net, const L& loss, const Batch& batch) {
  const Optimizer o = adam(constant_rate(1e-3));
  const OptimizerState first = o.init(net);
  const auto training = [&](const N& n, const OptimizerState& s, const Batch& b) {
    const auto [value, g] = value_and_grad([&](const N& m) { return loss(m, b); })(n);
    const auto [next, state] = o.update(n, g, s);
    return std::tuple(next, state, value);
  };

  // The steps alone, on memory that is there.
  const std::vector<Tensor> leaves = flatten_tree(net, first, batch);
  std::vector<Type> types;
  for (const Tensor& t : leaves) types.push_back(t.type());
  const Graph g = simplify(trace(
      [&](const std::vector<Tensor>& l) {
        const Tensor* next = l.data();
        N n = unflatten_tree(net, next);
        OptimizerState s = unflatten_tree(first, next);
        return flatten_tree(training(n, s, unflatten_tree(batch, next)));
      },
      types));
  const Plan plan(g);
  std::vector<Tensor> results;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  std::vector<Tensor> given;
  for (const Tensor& t : leaves) {
    given.push_back(contiguous(t));
    in.push_back(static_cast<const std::byte*>(given.back().view().data));
  }
  for (Graph::Id id : g.outputs) {
    results.push_back(contiguous(zeros(g.types[id].shape, g.types[id].dtype)));
    out.push_back(static_cast<std::byte*>(results.back().view().data));
  }
  long most = 0;
  const auto run_steps = [&](int threads, int runs) {
    set_num_threads(threads);
    Plan::Run run(plan);
    long all = 0;
    most = 0;
    for (int k = 0; k < runs + 2; ++k) {
      const long before = calls;
      run(in.data(), out.data());
      if (k < 2) continue;
      most = std::max(most, calls - before);
      all += calls - before;
    }
    return static_cast<double>(all) / runs;
  };
  run_steps(1, 4);
  print_figure(name + "_step_mallocs", static_cast<double>(most), "calls");
  print_figure(name + "_shared_step_mallocs", run_steps(2, 30), "calls");

  set_num_threads(1);
  const auto step = jit(training);
  N n = net;
  OptimizerState s = first;
  Tensor value;
  most = 0;
  for (int k = 0; k < 6; ++k) {
    const long before = calls;
    std::tie(n, s, value) = step(std::move(n), std::move(s), batch);
    if (k >= 2) most = std::max(most, calls - before);
  }
  print_figure(name + "_call_mallocs", static_cast<double>(most), "calls");
}

Tensor wave(const Shape& s) { return cast(normal(random_key(5), s), Dtype::f32); }
Tensor labels(const Shape& s, double n) { return cast(uniform(random_key(6), s) * n, Dtype::i64); }

}  // namespace

int main() {
  const Tensor key = random_key(1);
  plans_of_a_hundred_sizes();
  count_in("A", nn::mlp(key, {784, 512, 512, 10}, {.linear = {.dtype = Dtype::f32}}),
           [](const nn::Mlp& m, const Batch& b) { return nn::cross_entropy(m(b[0]), b[1]); },
           {wave({128, 784}), labels({128}, 10)});
  const auto [vae, statistics] = nn::conv_vae(key, {.dtype = Dtype::f32});
  count_in("B", vae,
           [statistics = statistics](const nn::ConvVae& v, const Batch& b) {
             const auto out = v.train(b[0], random_key(7), statistics);
             return nn::mean_square(out.y, b[0]) +
                    0.01 * nn::kl_normal(out.code.mean, out.code.log_variance);
           },
           {wave({64, 32})});
  count_in("C", nn::unet(key, 1, 1, {.dtype = Dtype::f32}),
           [](const nn::UNet& u, const Batch& b) {
             return nn::mean_square(squeeze(u(expand_dims(b[0], -1)), -1), b[1]);
           },
           {wave({4, 128, 128}), wave({4, 128, 128})});
  count_in("D", nn::gpt(key, {.width = 512, .heads = 8, .dtype = Dtype::f32}),
           [](const nn::Gpt& g, const Batch& b) { return nn::cross_entropy(g(b[0]), b[1]); },
           {labels({4, 256}, 1000), labels({4, 256}, 1000)});
  count_in("E", nn::edge_network(key, {.species = 5, .cutoff = 2, .dtype = Dtype::f32}),
           [](const nn::EdgeNetwork& n, const Batch& b) {
             const auto [e, f] = n.energy_and_forces(b[0], b[1]);
             return nn::mean_square(e, b[2]) + nn::mean_square(f, b[3]);
           },
           {labels({32, 21}, 5), wave({32, 21, 3}), wave({32}), wave({32, 21, 3})});
  return 0;
}
