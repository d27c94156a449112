// SPDX-License-Identifier: Apache-2.0
// The gradient of a scan of 614 steps over 60 separate scalars,
//   x_i += dt (tanh x_{i+1} - x_i exp(-x_{i-1}^2)),   loss = sum_i x_i^2,
// called afresh each time: recording the body, its derivatives and their compilation are part of
// the time.
#include "measure.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

#include <cmath>

int main() {
  using namespace tessera;
  using namespace tessera::benchmarks;
  constexpr std::size_t n = 60;
  constexpr Index steps = 614;
  constexpr double dt = 0.01;
  std::vector<Tensor> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(Tensor(std::sin(0.7 * static_cast<double>(i))));

  const auto body = [](const std::vector<Tensor>& x) {
    std::vector<Tensor> y;
    for (std::size_t i = 0; i < n; ++i) {
      const Tensor &before = x[(i + n - 1) % n], &after = x[(i + 1) % n];
      y.push_back(x[i] + dt * (tanh(after) - x[i] * exp(-(before * before))));
    }
    return std::pair(y, std::tuple());
  };
  const auto loss = [&](const Checkpoint& policy) {
    return [&body, policy](const std::vector<Tensor>& x) {
      Tensor s(0.0);
      for (const Tensor& v : scan(body, x, steps, {.checkpoint = policy}).first) s = s + v * v;
      return s;
    };
  };

  // The same by plain C++ with tangents along one direction.
  const auto g = grad(loss(Checkpoint::all()))(x);
  std::vector<double> v(n), t(n), w(n), u(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = x[i].item(), t[i] = std::cos(1.3 * static_cast<double>(i));
  double along = 0, got = 0;
  for (std::size_t i = 0; i < n; ++i) got += g[i].item() * t[i];
  for (Index k = 0; k < steps; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t b = (i + n - 1) % n, a = (i + 1) % n;
      const double e = std::exp(-v[b] * v[b]), h = std::tanh(v[a]);
      w[i] = v[i] + dt * (h - v[i] * e);
      u[i] = t[i] + dt * ((1 - h * h) * t[a] - t[i] * e + 2 * v[i] * e * v[b] * t[b]);
    }
    v.swap(w), t.swap(u);
  }
  for (std::size_t i = 0; i < n; ++i) along += 2 * v[i] * t[i];
  print_figure("scan_gradient_error", std::abs(got - along) / std::abs(along), "1");
  if (!(std::abs(got - along) <= 1e-10 * std::abs(along))) return 1;

  const auto measured = [&](const char* name, auto&& f) {
    f();
    Samples s;
    for (int r = 0; r < 31; ++r) s.add(seconds_of(f));
    print_figure(name, 1e3 * s.median(), "ms");
    print_figure((std::string(name) + "_best").c_str(), 1e3 * s.best(), "ms");
  };
  measured("scan_value_ms", [&] { loss(Checkpoint::all())(x); });
  measured("scan_gradient_ms", [&] { grad(loss(Checkpoint::all()))(x); });
  measured("scan_gradient_revolve_ms", [&] { grad(loss(Checkpoint::revolve(16)))(x); });
  const auto planned = jit(grad(loss(Checkpoint::all())));
  measured("scan_gradient_planned_ms", [&] { planned(x); });
  // The same system as one vector of 60: a plan of kernels instead of register code.
  const auto roll = [](const Tensor& x, Index by) {
    return concatenate({slice(x, 0, by, n), slice(x, 0, 0, by)});
  };
  const auto vector_loss = [&](const Tensor& x) {
    return sum(square(scan(
                          [&](const Tensor& x) {
                            return std::pair(
                                x + dt * (tanh(roll(x, 1)) - x * exp(-square(roll(x, n - 1)))),
                                std::tuple());
                          },
                          x, steps)
                          .first));
  };
  const Tensor packed = stack(x);
  if (!(max(abs(grad(vector_loss)(packed) - stack(g))).item() <= 1e-12 * max(abs(stack(g))).item()))
    return 1;
  measured("scan_gradient_vector_ms", [&] { grad(vector_loss)(packed); });
  // What does not depend on the number of steps.
  measured("scan_gradient_one_step_ms", [&] {
    grad([&](const std::vector<Tensor>& x) {
      Tensor s(0.0);
      for (const Tensor& v : scan(body, x, 1).first) s = s + v * v;
      return s;
    })(x);
  });
  return 0;
}
