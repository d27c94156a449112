// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/jet.h>
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>

#include <cmath>
#include <iostream>
#include <numbers>

using namespace tessera;

/// A tanh network with one hidden layer.
struct Net {
  Tensor w, b, v;
  TESSERA_TREE(w, b, v)
  Tensor operator()(const Tensor& x) const {
    return squeeze(matmul(tanh(matmul(x, w) + b), v), {-1});
  }
};

int main() {
  // -laplace u = f in the unit square, u = 0 around it; f belongs to u = sin(pi x) sin(pi y).
  constexpr double pi = std::numbers::pi;
  const auto exact = [](const Tensor& p) {
    return sin(pi * select(p, -1, 0)) * sin(pi * select(p, -1, 1));
  };
  const Tensor points = uniform(random_key(1), {120, 2});
  const auto residual = [&](const Net& net) {
    const auto u = [&](const Tensor& p) { return net(p) * prod(p * (1.0 - p), {-1}); };  // 0 around
    return laplacian(u)(points) + 2.0 * pi * pi * exact(points);
  };
  const Net start{normal(random_key(2), {2, 25}), normal(random_key(3), {25}),
                  0.1 * normal(random_key(4), {25, 1})};
  const auto r = least_squares(residual, start, {.max_iterations = 60});

  const Tensor check = uniform(random_key(5), {1000, 2});
  const Tensor error = r.x(check) * prod(check * (1.0 - check), {-1}) - exact(check);
  std::cout << "largest error " << max(abs(error)).item() << " after " << r.iterations
            << " iterations\n";
  return max(abs(error)).item() < 1e-3 ? 0 : 1;
}
