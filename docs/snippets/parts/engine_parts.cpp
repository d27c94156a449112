// SPDX-License-Identifier: Apache-2.0
// What pages of docs/reference and solvers/README.md quote in part, each with what it needs around.
#include <tessera/autodiff/grad.h>
#include <tessera/autodiff/host_call.h>
#include <tessera/autodiff/jit.h>
#include <tessera/autodiff/loops.h>
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>
#include <tessera/autodiff/sparse.h>
#include <tessera/solvers/ldlt.h>
#include <tessera/solvers/petsc.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

bool loops() {
  const Tensor a = tensor({0.5, 0.25}), x0 = tensor({1.0, 2.0}), forcing = ones({20, 2});
  const auto step = [&](const Tensor& x, const Tensor& u) { return a * x + u; };
  auto [x_end, ys] = scan(
      [&](Tensor x, Tensor u) {
        Tensor y = step(x, u);
        return std::pair(y, norm(y));
      },
      x0, forcing, {.checkpoint = Checkpoint::revolve(32)});
  return std::abs(select(x_end, 0, 0).item() - 2) < 1e-5 && ys.size() == 20;
}

struct Table {
  Tensor value(const Tensor& x) const { return tensor(std::exp(-x.item())); }
};
bool operations() {
  const Table table;
  const Tensor depth = tensor(0.5);
  const FlatFunction derivative = host_call({.name = "derivative", .run = [](auto& x) {
                                               return std::vector{tensor(-std::exp(-x[0].item()))};
                                             }});
  const FlatFunction density = host_call(
      {.name = "density",
       .run = [&](auto& x) { return std::vector{table.value(x[0])}; },
       .jvp = [&](auto& x, auto&, auto& t) { return std::vector{derivative({x[0]})[0] * t[0]}; }});
  Tensor rho = density({depth})[0];  // eager, or inside grad, vmap, jit, scan
  const Tensor slope = grad([&](Tensor d) { return density({d})[0]; })(depth);
  return std::abs(rho.item() + slope.item()) < 1e-15;
}

bool optimizing() {
  using Params = Tensor;
  Params params = tensor({0.0, 3.0});
  const auto loss = [](const Params& p) { return sum(square(p - 1.0)); };
  {
    const Optimizer o = adamw(warmup(100, cosine_rate(1e-3, 10000)));
    OptimizerState state = o.init(params);
    const auto step = jit([&](const Params& p, const OptimizerState& s) {
      return o.update(p, clip_by_norm(grad(loss)(p), 1.0), s);
    });
    for (int k = 0; k < 10000; ++k) std::tie(params, state) = step(params, state);
  }
  const Tensor x0 = tensor({1.0, 2.0});
  const auto residual = [](Tensor x) { return square(x) - 2.0; };
  const auto f = [&](Tensor x) { return sum(square(residual(x))); };
  const auto r = minimize(f, x0, {.method = Method::newton_cg, .gradient_tolerance = 1e-10});
  const auto q = least_squares(residual, x0);  // value is |r|^2 / 2
  if (!converged(r.reason)) std::cout << to_string(r.reason);
  return loss(params).item() < 0.5 && r.value < 1e-12 && q.value < 1e-12;
}

bool sparse_derivatives() {
  const Tensor x = tensor({1.0, 2.0, 3.0}), x2 = tensor({2.0, 2.0, 2.0}), t = ones({3});
  const auto residual = [](Tensor x) { return x * x - 1.0; };
  const auto energy = [](Tensor x) { return sum(x * x * x); };
  const SparseDerivative j = sparse_jacobian(residual, x);  // finds the pattern, colours it
  Tensor v = j(x2);                          // the values [entries], in the order of *j.pattern()
  Tensor y = csr_matmul(v, j.pattern(), t);  // J t
  const SparseDerivative h = sparse_hessian(energy, x);  // symmetric, with the whole diagonal
  return max(abs(y - 4.0)).item() < 1e-14 && h(x).size() == 3;
}

bool fields_side_by_side() {
  const CsrPatternPtr pattern = csr_pattern(2, 2, {0, 2, 4}, {0, 1, 0, 1});
  const Tensor values = tensor({4.0, 1.0, 1.0, 3.0, 8.0, 2.0, 2.0, 6.0}, {2, 4}),
               sources = ones({2, 2, 5});
  const auto fields = [&](Tensor v, Tensor b) {  // [entries], [n, k]
    return linear_solve(LinearOperator::csr(v, pattern), b, {.solver = solvers::ldlt()}).x;
  };
  const Tensor x = vmap(fields)(values, sources);  // [frequencies, entries], [frequencies, n, k]
  return x.shape() == Shape{2, 2, 5} &&
         max(abs(select(x, 0, 0) - 2.0 * select(x, 0, 1))).item() < 1e-15;
}

bool solvers_of_others() {
  if (!solvers::petsc_available()) return true;
  const Tensor values = tensor({4.0, 1.0, 1.0, 3.0}), b = tensor({1.0, 2.0});
  const CsrPatternPtr pattern = std::make_shared<const CsrPattern>(
      2, 2, std::vector<Index>{0, 2, 4}, std::vector<Index>{0, 1, 0, 1});
  const Tensor x =
      linear_solve(LinearOperator::csr(values, pattern), b, {.solver = solvers::mumps_lu()}).x;
  return std::abs(11 * select(x, 0, 0).item() - 1) < 1e-10;
}

}  // namespace

int main() {
  const bool all[] = {loops(),
                      operations(),
                      optimizing(),
                      sparse_derivatives(),
                      fields_side_by_side(),
                      solvers_of_others()};
  for (const bool right : all)
    if (!right) return 1;
  return 0;
}
