// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/grad.h>
#include <tessera/autodiff/ode.h>
#include <tessera/autodiff/ops.h>

#include <iostream>

using namespace tessera;

int main() {
  const auto end = [](Tensor k) {  // y(3) of dy/dt = sin t - k y from y(0) = 1
    const auto rate = [k](const Tensor& t, const Tensor& y) { return sin(t) - k * y; };
    return select(odeint(rate, tensor(1.0), tensor({0.0, 3.0})).y, 0, 1);
  };
  const Tensor k = tensor(0.8);
  std::cout << to_string(end(k)) << "\n"               // adaptive steps of order 5
            << to_string(grad(end)(k)) << "\n"         // d/dk, back through the solver
            << to_string(grad(grad(end))(k)) << "\n";  // and once more: any order
}
