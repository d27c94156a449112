// SPDX-License-Identifier: Apache-2.0
//
// The networks of tests/support/five_networks.h, in small or, with TESSERA_FULL_NETWORKS, as they
// are: a step is the same bits without jit and at each level, a training on any number of threads,
// loaders and workers.
#include "five_networks.h"

#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/solvers/fit.h"
#include "tests/autodiff/same_bits.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

using namespace tessera;
using namespace tessera::solvers;
using tessera::testing::Arrays;
using tessera::testing::as;

namespace {

bool in_small() { return std::getenv("TESSERA_FULL_NETWORKS") == nullptr; }

/// How many of the tensors differ in a bit.
std::size_t differing(const Arrays& a, const Arrays& b) {
  if (a.size() != b.size()) return std::max(a.size(), b.size());
  std::size_t n = 0;
  for (std::size_t k = 0; k < a.size(); ++k) n += !same_bits(a[k], b[k]);
  return n;
}

class Threads {
 public:
  explicit Threads(int n) : before_(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

template <class N>
Arrays leaves_of(const FitState<N>& s) {
  Arrays all = flatten_tree(s.params);
  for (const Tensor& t : flatten_tree(s.optimizer)) all.push_back(t);
  for (const Tensor& t : flatten_tree(s.best)) all.push_back(t);
  for (const FitEpoch& e : s.curves) all.push_back(tensor({e.loss, e.validation}));
  return all;
}

}  // namespace

TEST(FiveNetworks, StepsAreTheSameBitsWithoutJitAndAtEachLevel) {
  tessera::testing::each_task(in_small(), [](const auto& task) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      using N = std::remove_cvref_t<decltype(task.like)>;
      const Optimizer o = adam(constant_rate(1e-3));
      const auto step = [&](const N& n, const OptimizerState& s, const Arrays& b) {
        const auto [value, g] = value_and_grad([&](const N& m) { return task.loss(m, b); })(n);
        const auto [next, state] = o.update(n, g, s);
        return std::tuple(next, state, g, value);
      };
      const Arrays batches[] = {as(task.sample(random_key(3), task.batch), dtype),
                                as(task.sample(random_key(4), task.batch), dtype)};
      // Two steps: the second one has moments, and an O1 is given its arguments.
      const auto two_steps = [&](const auto& f, bool given) {
        N n = tessera::testing::in_precision(task.like, dtype);
        OptimizerState s = o.init(n);
        Arrays all;
        for (const Arrays& b : batches) {
          N g = n;
          Tensor value;
          if (given)
            std::tie(n, s, g, value) = f(std::move(n), std::move(s), b);
          else
            std::tie(n, s, g, value) = f(n, s, b);
          for (const Tensor& t : flatten_tree(g)) all.push_back(t);
          all.push_back(value);
        }
        for (const Tensor& t : flatten_tree(n)) all.push_back(t);
        for (const Tensor& t : flatten_tree(s)) all.push_back(t);
        return all;
      };
      const Arrays eager = two_steps(step, false);
      const std::string name = task.name + " " + name_of(dtype);
      EXPECT_EQ(differing(two_steps(jit(step, {.level = Level::O0}), false), eager), 0U) << name;
      EXPECT_EQ(differing(two_steps(jit(step), false), eager), 0U) << name;
      EXPECT_EQ(differing(two_steps(jit(step), true), eager), 0U) << name;
      std::printf("  %s: %zu tensors of two steps, loss %.6g\n", name.c_str(), eager.size(),
                  cast(eager[flatten_tree(task.like).size()], Dtype::f64).item());
    }
  });
}

TEST(FiveNetworks, TrainingsAreTheSameBitsOnAnyThreadsLoadersAndWorkers) {
  tessera::testing::each_task(in_small(), [](const auto& task) {
    using N = std::remove_cvref_t<decltype(task.like)>;
    // Two whole batches and a part of one, whose four parts are not of one size.
    const Index count = 2 * task.batch + task.batch / 2 + 1;
    const Samples<Arrays> samples = in_memory(as(task.sample(random_key(5), count), Dtype::f32)),
                          held_out = in_memory(as(task.sample(random_key(6), 3), Dtype::f32));
    const auto loss = [&](const N& n, const Batch<Arrays>& b) { return task.loss(n, b.data); };
    const auto trained = [&](int threads, int loaders, Index parts, int workers) {
      const Threads now(threads);
      const FitOptions o{.epochs = 3,
                         .batch = task.batch,
                         .parts = std::min(parts, task.batch),
                         .workers = workers,
                         .loaders = loaders};
      FitState<N> s = begin_fit(tessera::testing::in_precision(task.like, Dtype::f32), o);
      fit(loss, s, samples, held_out, o);
      return leaves_of(s);
    };
    std::size_t runs = 2;
    const Arrays whole = trained(1, 0, 1, 1), in_parts = trained(1, 0, 4, 1);
    for (const int threads : {1, 2, 4})
      for (const int loaders : {0, 1, 3}) {
        ++runs;
        EXPECT_EQ(differing(trained(threads, loaders, 1, 1), whole), 0U)
            << task.name << ", " << threads << " threads, " << loaders << " loaders";
      }
    for (const int workers : {1, 2, 4})
      for (const int threads : {1, 2}) {
        ++runs;
        EXPECT_EQ(differing(trained(threads, workers % 3, 4, workers), in_parts), 0U)
            << task.name << ", " << workers << " workers, " << threads << " threads";
      }
    std::printf("  %s: %zu trainings of 3 epochs, %zu tensors each\n", task.name.c_str(), runs,
                whole.size());
  });
}
