// SPDX-License-Identifier: Apache-2.0
//
// What one operation costs beside its arithmetic: a chain of 1,000 dependent adds and multiplies of
// one-element f64 values, x <- x * a, x <- x + b, with x, a, b known only at run time. Nothing is
// folded or fused: the plan runs 1,000 kernels, and every bound is the latency of calls. libtorch
// runs the same chain in the same process.
#include "interleave.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <cstdlib>

namespace {

constexpr int kPairs = 500, kRounds = 151;
using tessera::Tensor;

double chain_of_doubles(double x, double a, double b) {
  for (int k = 0; k < kPairs; ++k) x = x * a + b;
  return x;
}
template <class T>
T chain(T x, const T& a, const T& b) {
  for (int k = 0; k < kPairs; ++k) {
    x = x * a;
    x = x + b;
  }
  return x;
}

struct Series {
  const char* name;
  std::vector<double> ns = {};  ///< per operation, one entry a round
  void add(double seconds) { ns.push_back(seconds / (2 * kPairs) * 1e9); }
  void print() const {
    bench::print(name, bench::median(ns), "ns");
    bench::print(std::string(name) + "_low_quartile", bench::quantile(ns, 0.25), "ns");
    bench::print(std::string(name) + "_spread", bench::spread(ns), "1");
  }
};

}  // namespace

int main(int argc, char** argv) {
  // From the command line, so that no compiler knows them.
  const double x0 = argc > 1 ? std::atof(argv[1]) : 0.5, a0 = argc > 2 ? std::atof(argv[2]) : 0.999,
               b0 = argc > 3 ? std::atof(argv[3]) : 1e-3;
  tessera::set_num_threads(1);
  at::set_num_threads(1);
  bench::print_machine();
  std::printf("# chain of %d operations on one f64, %d rounds of three, one thread\n", 2 * kPairs,
              kRounds);

  const Tensor x(x0), a(a0), b(b0);
  const at::Tensor tx = at::scalar_tensor(x0, at::kDouble), ta = at::scalar_tensor(a0, at::kDouble),
                   tb = at::scalar_tensor(b0, at::kDouble);
  const at::Tensor leaf = tx.clone().set_requires_grad(true);
  const auto planned = tessera::jit([](Tensor u, Tensor v, Tensor w) { return chain(u, v, w); });

  Series plan{"planned_op"}, eager{"eager_op"}, recording{"eager_recording_op"}, torch{"torch_op"},
      torch_recording{"torch_recording_op"};
  double last[5] = {};
  double record_seconds = 0;
  // The recorder of a gradient; the clock runs inside it, around the chain alone.
  const auto recorded = tessera::value_and_grad([&](Tensor u) {
    Tensor y;
    record_seconds = bench::seconds_of([&] { y = chain(u, a, b); });
    return y;
  });
  // Each side runs three times in its turn, so that most samples find its own data in the caches.
  const auto turn = [&](Series& series, int round, const auto& run) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      const double seconds = run();
      if (round >= 5) series.add(seconds);
    }
  };
  for (int k = 0; k < kRounds + 5; ++k) {
    Tensor y;
    at::Tensor t;
    turn(plan, k, [&] { return bench::seconds_of([&] { y = planned(x, a, b); }); });
    last[0] = y.item();
    turn(eager, k, [&] { return bench::seconds_of([&] { y = chain(x, a, b); }); });
    last[1] = y.item();
    turn(recording, k, [&] {
      last[2] = recorded(x).first.item();
      return record_seconds;
    });
    {
      at::NoGradGuard off;
      turn(torch, k, [&] { return bench::seconds_of([&] { t = chain(tx, ta, tb); }); });
      last[3] = t.item<double>();
    }
    turn(torch_recording, k, [&] { return bench::seconds_of([&] { t = chain(leaf, ta, tb); }); });
    last[4] = t.item<double>();
  }
  const double exact = chain_of_doubles(x0, a0, b0);
  for (double v : last)
    if (std::fabs(v - exact) > 1e-12 * std::fabs(exact)) {
      std::printf("# the chains disagree: %.17g and %.17g\n", v, exact);
      return 1;
    }
  for (const Series* s : {&plan, &eager, &recording, &torch, &torch_recording}) s->print();
}
