// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/grad.h>
#include <tessera/autodiff/ops.h>
#include <tessera/data/build_info.h>

#include <iostream>

int main() {
  const auto slope =
      tessera::grad([](tessera::Tensor x) { return x * sin(x); })(tessera::Tensor(0.0));
  std::cout << "Tessera " << tessera::data::build_info().version << ": slope " << slope.item()
            << "\n";
}
