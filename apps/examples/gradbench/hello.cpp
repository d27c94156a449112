// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `hello`: the square of a number, and its derivative.
#include "tessera/autodiff/grad.h"
#include "verify.h"

using namespace tessera;

int main() {
  const auto square_of = [](Tensor x) { return x * x; };
  bool ok = true;
  for (const double x : {-3.5, 0.0, 1.0, 1e8}) {
    ok &= gradbench::close("square", {square_of(Tensor(x)).item()}, {x * x});
    ok &= gradbench::close("double", {grad(square_of)(Tensor(x)).item()}, {2 * x});
  }
  return ok ? 0 : 1;
}
