// SPDX-License-Identifier: Apache-2.0
#include "lstm.h"

#include "tessera/autodiff/jit.h"

using namespace tessera;
using namespace gradbench::lstm;

int main() {
  bool ok = true;
  for (const auto& [layers, steps, b] : {std::array<int, 3>{1, 5, 2}, {2, 30, 3}, {4, 12, 5}}) {
    const Input in = make_input(layers, steps, b);
    const auto step = jit([&](const Params& p) {
      return value_and_grad([&](const Params& p) { return objective(in, p); })(p);
    });
    const auto [y, g] = step(params(in));
    auto v = in.main;
    v.insert(v.end(), in.extra.begin(), in.extra.end());
    auto got = flatten(g.main).to_vector();
    for (double u : flatten(g.extra).to_vector()) got.push_back(u);
    const auto plain = [&](const auto& v) { return plain_objective(in, v.data()); };
    ok &= gradbench::close("objective", {y.item()}, {plain(v)}) &
          gradbench::close("jacobian", got, gradbench::complex_step_gradient(plain, v));
  }
  const Input in = make_input(2, 1024, 14);
  const auto step = jit([&](const Params& p) {
    return value_and_grad([&](const Params& p) { return objective(in, p); })(p);
  });
  const Params p = params(in);
  std::printf("gradient, 2 layers, 1024 characters of 14 bits: %.1f ms\n",
              gradbench::milliseconds([&] { step(p); }));
  return ok ? 0 : 1;
}
