// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `ode`: y_0' = x_0, y_i' = x_i y_{i-1}, y(0) = 0, to t = 2 by s steps of the classical
// Runge-Kutta method; the gradient of the last component with respect to x. One step is a body on
// whole vectors, the steps one scan.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "verify.h"

using namespace tessera;

namespace {

Tensor solution(const Tensor& x, Index steps) {
  const double h = 2.0 / static_cast<double>(steps);
  const auto rate = [&](const Tensor& y) { return x * pad(slice(y, 0, 0, -1), {1}, {0}, {}, 1.0); };
  const auto step = [&](Tensor, Tensor y) {
    const Tensor k1 = rate(y), k2 = rate(y + 0.5 * h * k1), k3 = rate(y + 0.5 * h * k2),
                 k4 = rate(y + h * k3);
    return y + h / 6 * (k1 + 2.0 * (k2 + k3) + k4);
  };
  return fori_loop(steps, step, zeros(x.shape()));
}

template <class T>
T last_component(const std::vector<T>& x, Index steps) {
  const std::size_t n = x.size();
  const double h = 2.0 / static_cast<double>(steps);
  std::vector<T> y(n, T(0.0)), k[4], at(n);
  const double reach[4] = {0, 0.5 * h, 0.5 * h, h};
  for (Index s = 0; s < steps; ++s) {
    for (int stage = 0; stage < 4; ++stage) {
      for (std::size_t i = 0; i < n; ++i)
        at[i] = stage ? y[i] + reach[stage] * k[stage - 1][i] : y[i];
      k[stage].assign(n, x[0]);
      for (std::size_t i = 1; i < n; ++i) k[stage][i] = x[i] * at[i - 1];
    }
    for (std::size_t i = 0; i < n; ++i)
      y[i] += h / 6 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
  }
  return y[n - 1];
}

}  // namespace

int main() {
  bool ok = true;
  for (const auto& [n, steps] : {std::pair<std::size_t, Index>{3, 10}, {8, 100}, {32, 50}}) {
    std::mt19937_64 rng(1);
    const auto x = gradbench::uniform(n, rng, 0.5, 1.5);
    const auto last = [steps = steps](Tensor x) {
      return select(solution(x, steps), 0, x.dim(0) - 1);
    };
    const auto step = jit([&](Tensor x) { return value_and_grad(last)(x); });
    const auto [y, g] = step(tensor(x));
    const auto plain = [steps = steps](const auto& x) { return last_component(x, steps); };
    ok &= gradbench::close("primal", {y.item()}, {plain(x)}, 1e-5, 0) &
          gradbench::close("gradient", g.to_vector(), gradbench::complex_step_gradient(plain, x),
                           1e-5, 0);
  }
  // Runge and Kutta's method is exact for polynomials of the fourth degree: y_3(2) = x_0 x_1 x_2
  // x_3 2^4 / 4!.
  ok &= gradbench::close(
      "closed form", {select(solution(tensor({1.0, 2.0, 3.0, 4.0}), 5), 0, 3).item()}, {16}, 1e-13);
  return ok ? 0 : 1;
}
