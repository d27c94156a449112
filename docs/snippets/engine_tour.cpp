// SPDX-License-Identifier: Apache-2.0
// The tensor engine from the first gradient to a differential equation solved by a network.
#include <tessera/autodiff/grad.h>
#include <tessera/autodiff/implicit.h>
#include <tessera/autodiff/jet.h>
#include <tessera/autodiff/jit.h>
#include <tessera/autodiff/loops.h>
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>
#include <tessera/autodiff/solve.h>

#include <cmath>
#include <iostream>

using namespace tessera;

/// A network 1-12-1; its parameters are a tree of three tensors.
struct Net {
  Tensor w, b, v;
  TESSERA_TREE(w, b, v)
  Tensor operator()(Tensor x) const { return squeeze(matmul(tanh(matmul(x, w) + b), v), -1); }
};

int main() {
  int wrong = 0;
  const auto expect = [&](const char* what, const Tensor& got, const Tensor& want, double tol) {
    const bool right = max(abs(got - want)).item() <= tol;
    std::cout << what << ": " << to_string(got) << (right ? "" : "  wrong") << "\n";
    if (!right) ++wrong;
  };

  // Derivatives of a scalar, and of a vector, in x [3].
  const auto energy = [](Tensor x) { return sum(square(x) * sin(x)); };
  const auto map = [](Tensor x) { return exp(x) * sum(x); };
  const Tensor x = tensor({0.5, 1.0, 1.5}), v = ones({3});
  const Tensor gradient = grad(energy)(x);                         // [3]
  const auto [value, along] = jvp(energy, x, v);                   // f, and df along v
  const auto [y, pull] = vjp(map, x);                              // y [3], and c -> J^T c
  const Tensor jacobian = jacfwd(map)(x), h = hessian(energy)(x);  // [3, 3] both
  expect("df along v", along, dot(gradient, v), 1e-13);
  expect("J^T v", pull(v), matmul(transpose(jacobian), v), 1e-13);
  expect("H v", hvp(energy, x, v), matmul(h, v), 1e-13);

  // The gradient at four points at once; and planned, to the same bits.
  const Tensor points = reshape(linspace(0.0, 1.1, 12), {4, 3});
  const Tensor gradients = vmap(grad(energy))(points);  // [4, 3]
  expect("gradient at point 2", select(gradients, 0, 2), grad(energy)(select(points, 0, 2)), 1e-13);
  expect("planned", jit(grad(energy))(x), gradient, 0);

  // A branch that guards: the infinite derivative of the square root at 0 is not met.
  const auto root_of = [](Tensor z) { return sqrt(z); };
  const auto nothing = [](Tensor z) { return 0.0 * z; };
  const auto guarded = [&](Tensor z) { return cond(z > 0.0, root_of, nothing, z); };
  expect("derivative at 0", grad(guarded)(Tensor(0.0)), Tensor(0.0), 0);

  // 1,000 steps of a pendulum as one operation, whose gradient keeps 10 states.
  const auto swing = [](Tensor angle) {
    const auto step = [](std::pair<Tensor, Tensor> s) {
      const Tensor momentum = s.second - 0.01 * sin(s.first), next = s.first + 0.01 * momentum;
      return std::pair(std::pair(next, momentum), std::tuple());
    };
    const ScanOptions options{.checkpoint = Checkpoint::revolve(10)};
    return scan(step, std::pair(angle, Tensor(0.0)), 1000, options).first.first;
  };
  const Tensor start(1.0), one(1.0);
  expect("d end / d start", grad(swing)(start), jvp(swing, start, one).second, 1e-11);

  // A rule by hand: log(1 + e^z) overflows at 800, its derivative need not.
  using List = std::vector<Tensor>;
  const FlatFunction rule = custom_jvp(
      [](const List& z) { return List{log(1.0 + exp(z[0]))}; },
      [](const List& z, const List&, const List& t) { return List{logistic(z[0]) * t[0]}; });
  expect("derivative at 800", grad([&](Tensor z) { return rule({z})[0]; })(Tensor(800.0)), one, 0);

  // A system by products with A = k + 1 1^T alone: of b . A^-1 b the derivative is -|A^-1 b|^2.
  const Tensor b = linspace(1.0, 2.0, 5);
  const auto solution = [&](Tensor k) {
    const auto a = LinearOperator::self_adjoint([=](const Tensor& u) { return k * u + sum(u); });
    return linear_solve(a, b, {.solver = cg({.tolerance = 1e-13})}).x;
  };
  const auto work = [&](Tensor k) { return dot(b, solution(k)); };
  expect("derivative in k", grad(work)(Tensor(2.0)), -sum(square(solution(Tensor(2.0)))), 1e-11);

  // A root, differentiated by its equation: theta = sqrt(2 lambda) cosh(theta / 4).
  const auto root_at = [](Tensor lambda) {
    const auto f = [=](const Tensor& t) { return t - sqrt(2.0 * lambda) * cosh(t / 4.0); };
    return root(f, ones({})).x;
  };
  const Tensor theta = root_at(one), r = theta / 4.0;
  const Tensor derivative = cosh(r) / (std::sqrt(2.0) - 0.5 * sinh(r));
  expect("d theta / d lambda", grad(root_at)(one), derivative, 1e-12);

  // Taylor coefficients: exp(sin t) = 1 + t + t^2/2 - t^4/8 - ...
  const auto series = jet([](Tensor t) { return exp(sin(t)); }, 4)(Tensor(0.0), one);
  expect("coefficient of t^4", series[4], Tensor(-0.125), 1e-14);

  // -u'' = e^u in (0, 1), u = 0 at both ends (Bratu's problem), by u = p (1 - p) N(p).
  const Tensor grid = reshape(linspace(0.0, 1.0, 41), {41, 1});
  const auto residual = [&](const Net& net) {
    const auto u = [&](const Tensor& p) { return net(p) * squeeze(p * (1.0 - p), -1); };
    return laplacian(u)(grid) + exp(u(grid));
  };
  const auto loss = [&](const Net& net) { return mean(square(residual(net))); };
  Net net{normal(random_key(1), {1, 12}), normal(random_key(2), {12}),
          0.1 * normal(random_key(3), {12, 1})};
  const Optimizer o = adam(cosine_rate(0.02, 300));
  OptimizerState state = o.init(net);
  const auto step = jit([&](const Net& net, const OptimizerState& state) {
    return o.update(net, grad(loss)(net), state);
  });
  for (int k = 0; k < 300; ++k) std::tie(net, state) = step(net, state);
  std::cout << "loss after 300 steps of Adam: " << loss(net).item() << "\n";

  // A sum of squares has a better method: Levenberg and Marquardt's, from where Adam ended.
  const auto fit = least_squares(residual, net, {.max_iterations = 60});
  const Tensor p = linspace(0.0, 1.0, 101), u = fit.x(reshape(p, {101, 1})) * p * (1.0 - p);
  const Tensor exact = 2.0 * log(cosh(theta / 4.0) / cosh(theta / 2.0 * (p - 0.5)));
  expect("largest error of u", max(abs(u - exact)), Tensor(0.0), 1e-6);
  return wrong;
}
