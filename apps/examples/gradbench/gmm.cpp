// SPDX-License-Identifier: Apache-2.0
#include "gmm.h"

#include "tessera/autodiff/jit.h"

using namespace tessera;
using namespace gradbench::gmm;

int main() {
  bool ok = true;
  for (const auto& [n, d, k, m] : {std::array<int, 4>{20, 2, 5, 0}, {50, 6, 4, 2}, {10, 1, 3, 1}}) {
    Input in = make_input(n, d, k);
    in.m = m, in.gamma = 1.5;
    const Tensor x = tensor(in.x, {n, d});
    const auto step = jit([&](const Params& p) {
      return value_and_grad([&](const Params& p) { return objective(in, x, p); })(p);
    });
    const auto [y, g] = step(params(in));
    const auto plain = [&](const auto& v) { return plain_objective(in, v.data()); };
    ok &= gradbench::close("objective", {y.item()}, {plain(flat(in))}) &
          gradbench::close("jacobian", flat(g), gradbench::complex_step_gradient(plain, flat(in)));
  }
  const Input in = make_input(1000, 32, 25);
  const Tensor x = tensor(in.x, {1000, 32});
  const auto step = jit([&](const Params& p) {
    return value_and_grad([&](const Params& p) { return objective(in, x, p); })(p);
  });
  const Params p = params(in);
  std::printf("gradient, n = 1000, d = 32, k = 25: %.1f ms\n",
              gradbench::milliseconds([&] { step(p); }));
  return ok ? 0 : 1;
}
