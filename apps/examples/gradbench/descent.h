// SPDX-License-Identifier: Apache-2.0
//
// Gradient descent as GradBench's nested problems prescribe it: the step doubles after ten
// successes in a row and halves after a failure; it ends where the gradient or the step is below
// 1e-5. One loop of the engine, so that it may be planned and differentiated as a whole.
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/loops.h"
#include "verify.h"

namespace gradbench {

enum class Mode { forward, reverse };

/// Value and gradient of f at x [n].
template <class F>
std::pair<tessera::Tensor, tessera::Tensor> differentiated(Mode mode, const F& f,
                                                           const tessera::Tensor& x) {
  using namespace tessera;
  if (mode == Mode::reverse) return value_and_grad(f)(x);
  return {f(x), jacfwd(f)(x)};
}

template <class F>
tessera::Tensor argmin(Mode mode, const F& f, const tessera::Tensor& start) {
  using namespace tessera;
  struct State {
    Tensor x, value, gradient, rate, successes, done;
    TESSERA_TREE(x, value, gradient, rate, successes, done)
  };
  const auto going = [](const State& s) {
    return logical_and(logical_not(s.done), norm(s.gradient) > 1e-5);
  };
  const auto step = [&](const State& s) {
    const Tensor again = equal(s.successes, 10.0), rate = where(again, 2.0 * s.rate, s.rate);
    const Tensor next = s.x - rate * s.gradient, done = norm(next - s.x) <= 1e-5;
    const auto [value, gradient] = differentiated(mode, f, next);
    const Tensor lower = logical_and(logical_not(done), value < s.value);
    return State{where(lower, next, s.x),
                 where(lower, value, s.value),
                 where(lower, gradient, s.gradient),
                 where(logical_or(lower, done), rate, 0.5 * rate),
                 where(lower, where(again, 0.0, s.successes) + 1.0, 0.0),
                 done};
  };
  const auto [value, gradient] = differentiated(mode, f, start);
  return while_loop(
             going, step,
             State{start, value, gradient, Tensor(1e-5), Tensor(0.0), scalar(0.0, Dtype::boolean)})
      .x;
}
template <class F>
tessera::Tensor argmax(Mode mode, const F& f, const tessera::Tensor& x) {
  return argmin(
      mode, [&](const tessera::Tensor& y) { return -f(y); }, x);
}

}  // namespace gradbench
