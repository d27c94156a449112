// SPDX-License-Identifier: Apache-2.0
#include "../core/cost.h"
#include "tessera/autodiff/dryrun.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace tessera {
namespace {

/// The best of `rounds`, after one that is not counted.
template <class F>
double seconds_of(int rounds, const F& f) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int k = -1; k < rounds; ++k) {
    const auto begin = Clock::now();
    f();
    if (k >= 0) best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

double product_rate(Dtype dtype) {
  constexpr Index n = 512;
  const Tensor a = cast(linspace(-1, 1, n * n), dtype), x = reshape(a, {n, n});
  return 2.0 * n * n * n / seconds_of(8, [&] { matmul(x, x); });
}
double function_rate() {
  constexpr Index n = 1 << 17;  // in the second-level caches
  const Tensor x = linspace(-1, 1, n);
  return n * detail::flops_each("exp", false) / seconds_of(20, [&] { exp(x); });
}
double memory_rate() {
  constexpr Index n = 1 << 24;  // 128 MiB
  const Tensor x = contiguous(zeros({n}));
  return 16.0 * n / seconds_of(4, [&] { neg(x); });
}

}  // namespace

const MachineRates& machine_rates() {
  static const MachineRates rates{product_rate(Dtype::f32), product_rate(Dtype::f64),
                                  function_rate(), memory_rate()};
  return rates;
}

}  // namespace tessera
