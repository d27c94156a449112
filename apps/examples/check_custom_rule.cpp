// SPDX-License-Identifier: Apache-2.0
//
// A hand-written derivative rule with a slip, and the checks that catch it.
//   build/release/bin/example_check_custom_rule
//
// The rule is for the norm r = |x| of the last axis, d r = (x . dx) / r. The slip: it divides by
// r^2.
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/ops.h"

#include <iostream>

using namespace tessera;

namespace {

using Flat = std::vector<Tensor>;

/// |x| along the last axis; its derivative is x . dx / |x|^power, which is right for 1.
Tensor length(const Tensor& x, int power) {
  const FlatFunction f =
      custom_jvp([](const Flat& x) { return Flat{sqrt(sum(square(x[0]), {-1}))}; },
                 [power](const Flat& x, const Flat& r, const Flat& t) {
                   return Flat{sum(x[0] * t[0], {-1}) / pow(r[0], power)};
                 });
  return f({x})[0];
}

}  // namespace

int main() {
  const Tensor x = tensor({3.0, 4.0, 0.5, 1.2, 0.3, 0.4}, {3, 2});
  bool as_expected = true;
  for (const int power : {2, 1}) {
    const auto f = [power](Tensor x) { return length(x, power); };
    const CheckReport values = gradcheck(f, x, {.order = 2}),
                      adjoint = transpose_check(f, x, {.order = 2}), batch = vmap_check(f, x);
    const TaylorReport slopes = taylor_check(f, x);
    std::cout << (power == 2 ? "with the slip:\n" : "mended:\n");
    for (const CheckReport& r : {values, adjoint, batch, static_cast<const CheckReport&>(slopes)})
      std::cout << "  " << to_string(r) << "\n";
    std::cout << "  Taylor slopes " << slopes.first.slope << " and " << slopes.second.slope << "\n";
    // The adjoint identity cannot see the slip: reverse mode is made from the same wrong forward
    // rule.
    as_expected &= bool(values) == (power == 1) && bool(slopes) == (power == 1) && adjoint && batch;
  }
  return as_expected ? 0 : 1;
}
