// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `llsq`: half the sum of squared residuals of a polynomial fit to the sign function,
//   y(x) = 1/2 sum_i (s_i - sum_j x_j t_i^j)^2,  t_i = -1 + 2 i / (n - 1),  s_i = sign(t_i).
// Whole-array: powers of t once, then two products of matrix and vector.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "verify.h"

using namespace tessera;

namespace {

Tensor objective(const Tensor& x, Index n) {
  const Tensor t = linspace(-1, 1, n);
  std::vector<Tensor> powers{ones({n})};
  while (static_cast<Index>(powers.size()) < x.dim(0)) powers.push_back(powers.back() * t);
  return 0.5 * sum(square(sign(t) - matmul(stack(powers, 1), x)));
}

/// The sum and its gradient, -sum_i r_i t_i^j, in loops.
std::pair<double, std::vector<double>> by_hand(const std::vector<double>& x, Index n) {
  std::vector<double> g(x.size(), 0.0);
  double y = 0;
  for (Index i = 0; i < n; ++i) {
    const double t = -1 + 2 * static_cast<double>(i) / static_cast<double>(n - 1);
    double r = (t > 0) - (t < 0), power = 1;
    for (const double c : x) r -= c * power, power *= t;
    y += 0.5 * r * r;
    power = 1;
    for (double& gj : g) gj -= r * power, power *= t;
  }
  return {y, g};
}

}  // namespace

int main() {
  bool ok = true;
  for (const auto& [m, n] : {std::pair<std::size_t, Index>{4, 101}, {16, 4096}, {128, 1025}}) {
    std::mt19937_64 rng(1);
    const auto x = gradbench::uniform(m, rng, -1, 1);
    const auto step = jit(
        [n = n](Tensor x) { return value_and_grad([n](Tensor x) { return objective(x, n); })(x); });
    const auto [y, g] = step(tensor(x));
    const auto [want, want_g] = by_hand(x, n);
    ok &= gradbench::close("primal", {y.item()}, {want}) &
          gradbench::close("gradient", g.to_vector(), want_g);
  }
  return ok ? 0 : 1;
}
