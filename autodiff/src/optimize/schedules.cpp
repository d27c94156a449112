// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <numbers>

namespace tessera {
namespace {

void need_steps(const char* name, Index n) {
  if (n < 1) fail(name, "the number of steps must be positive, got " + std::to_string(n));
}
/// 1 at s = 0 falling to 0 at s = 1 by half a cosine.
Tensor half_cosine(const Tensor& s) { return 0.5 * (1.0 + cos(std::numbers::pi * s)); }

}  // namespace

Schedule constant_rate(Arg rate) {
  return [rate = detail::to_tensor("constant_rate", rate)](const Tensor&) { return rate; };
}
Schedule step_rate(Arg rate, Index every, double factor) {
  need_steps("step_rate", every);
  return [rate = detail::to_tensor("step_rate", rate), every, factor](const Tensor& step) {
    return rate * pow(factor, floor(step / static_cast<double>(every)));
  };
}
Schedule exponential_rate(Arg rate, Index every, double factor) {
  need_steps("exponential_rate", every);
  return [rate = detail::to_tensor("exponential_rate", rate), every, factor](const Tensor& step) {
    return rate * pow(factor, step / static_cast<double>(every));
  };
}
Schedule cosine_rate(Arg rate, Index steps, double last) {
  need_steps("cosine_rate", steps);
  return [rate = detail::to_tensor("cosine_rate", rate), steps, last](const Tensor& step) {
    return rate *
           (last + (1 - last) * half_cosine(minimum(step / static_cast<double>(steps), 1.0)));
  };
}
Schedule warmup(Index steps, Schedule then) {
  if (steps < 0)
    fail("warmup", "the number of steps must not be negative, got " + std::to_string(steps));
  need_steps("warmup", steps);
  return [steps, then = std::move(then)](const Tensor& step) {
    const double n = static_cast<double>(steps);
    return minimum((step + 1.0) / n, 1.0) * then(maximum(step - n, 0.0));
  };
}
Schedule one_cycle(Arg peak, Index steps, double rise, double first, double last) {
  need_steps("one_cycle", steps);
  if (!(rise > 0 && rise < 1))
    fail("one_cycle",
         "the share of rising steps must lie between 0 and 1, got " + std::to_string(rise));
  return
      [peak = detail::to_tensor("one_cycle", peak), steps, rise, first, last](const Tensor& step) {
        const Tensor s = minimum(step / static_cast<double>(steps), 1.0);
        const Tensor up = 1.0 + (first - 1) * half_cosine(s / rise),
                     down = last + (1 - last) * half_cosine((s - rise) / (1 - rise));
        return peak * where(s < rise, up, down);
      };
}

}  // namespace tessera
