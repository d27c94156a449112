// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/grad.h>
#include <tessera/autodiff/jit.h>
#include <tessera/autodiff/ops.h>

#include <iostream>

using namespace tessera;

int main() {
  const auto energy = [](Tensor x) {
    return sum(square(x) * sin(x));
  };  // any C++ callable on tensors
  const Tensor x = tensor({0.5, 1.0, 1.5});
  std::cout << to_string(grad(energy)(x)) << "\n"            // reverse mode
            << to_string(hvp(energy, x, ones({3}))) << "\n"  // forward over reverse
            << to_string(hessian(energy)(x)) << "\n"
            << to_string(jit(grad(energy))(x)) << "\n";  // planned: the same bits
}
