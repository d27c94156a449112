// SPDX-License-Identifier: Apache-2.0
// y' = sin t - k y: its solution at k = 0.8, and what its derivatives in k say of k = 1.4.
#include <tessera/autodiff/jet.h>
#include <tessera/autodiff/ode.h>
#include <tessera/autodiff/ops.h>
#include <tessera/data/plot.h>

#include <cmath>
#include <iostream>

using namespace tessera;

int main() {
  const Tensor t = linspace(0.0, 12.0, 241);
  const auto solution = [&](Tensor k) {
    const auto rate = [k](const Tensor& t, const Tensor& y) { return sin(t) - k * y; };
    return odeint(rate, tensor(1.0), t).y;
  };
  const double k = 0.8, step = 0.6;
  const std::vector<Tensor> c = jet(solution, 6)(tensor(k), tensor(1.0));  // y = sum_n c_n step^n

  data::Panel panel{
      .x = {.label = "t", .tight = true}, .y = {.label = "y"}, .legend = data::Legend::above};
  const auto draw = [&](std::string label, const Tensor& y, data::Stroke stroke) {
    panel.series.push_back(data::Line{std::move(label), t.to_vector(), y.to_vector(), stroke});
  };
  const Tensor wanted = solution(tensor(k + step));
  draw("k = 0.8", c[0], {});
  draw("k = 1.4", wanted, {.colour = data::Colour{0.2, 0.2, 0.2, 1}, .width = 2.2});
  Tensor sum = c[0];
  for (int n = 1; n <= 6; ++n) {
    sum = sum + std::pow(step, n) * c[n];
    if (n == 1 || n == 2 || n == 6)
      draw(n == 1 ? "order 1" : "orders 1 to " + std::to_string(n), sum, {.dash = {4, 2}});
  }
  data::save({.width = 400, .height = 220, .panels = {panel}}, "engine.png");
  const double error = max(abs(sum - wanted)).item();
  std::cout << "sixth order is off by " << error << " at most\n";
  return error < 0.05 ? 0 : 1;
}
