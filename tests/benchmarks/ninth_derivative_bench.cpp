// SPDX-License-Identifier: Apache-2.0
//
// Ninth derivatives, f64, planned:
//   jet      the Taylor coefficients 0 ... 9 of a network 1-50-50-50-1 at 1,000 points, whose
//   activation is a user's own:
//            softplus, of which only the rule of the first derivative is given (custom_jvp)
//   mixed    d^9 u / dx_0 ... dx_8 of a tanh network 9-32-32-1 at one point, by 256 directions,
//   beside nine nested
//            derivatives along the coordinates
// A coefficient of order k costs k sums of products for each activation, 54 in all: bounded by
// passes over memory.
#include "network.h"
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"

using namespace tessera;
using bench::Net;
using Tensors = std::vector<Tensor>;

namespace {

Tensor softplus_of_ours(const Tensor& u) {
  static const FlatFunction f =
      custom_jvp([](const Tensors& x) { return Tensors{log1p(exp(x[0]))}; },
                 [](const Tensors& x, const Tensors&, const Tensors& t) {
                   return Tensors{logistic(x[0]) * t[0]};
                 });
  return f({u})[0];
}
Tensor with_softplus(const Net& n, Tensor u) {
  for (std::size_t k = 0; k < n.w.size(); ++k) {
    u = matmul(u, n.w[k]) + n.b[k];
    if (k + 1 < n.w.size()) u = softplus_of_ours(u);
  }
  return u;
}

/// d/dx_k of f, k = first ... 8, one inside the other.
std::function<Tensor(Tensor)> nested(std::function<Tensor(Tensor)> f, Index first,
                                     const Tensor& coordinates) {
  if (first == 9) return f;
  const auto inner = nested(std::move(f), first + 1, coordinates);
  const Tensor e = select(coordinates, 0, first);
  return [inner, e](const Tensor& x) { return jvp(inner, x, e).second; };
}

bench::Versus timed(const std::string& name, const std::function<void()>& f) {
  const bench::Versus v = bench::alternate(31, f, [] {});
  bench::print(name + "_ms", v.ours * 1e3, "ms");
  return v;
}

}  // namespace

int main() {
  bench::print_machine();
  std::printf("# %d threads\n", num_threads());
  {
    const Net net = bench::network({1, 50, 50, 50, 1}, 0.3);
    const Tensor x = reshape(linspace(-2, 2, 1000), {1000, 1}), v = ones({1000, 1});
    const auto ours = [](const Net& n, Tensor x, Tensor v) {
      return jet([n](Tensor u) { return with_softplus(n, u); }, 9)(x, v);
    };
    const auto planned = jit(ours);
    Tensors y;
    timed("ninth_jet", [&] { y = planned(net, x, v); });
    // Nested first derivatives of the same, at some of the points: 2^9 evaluations each.
    const Tensor some = slice(x, 0, 0, 1000, 100), along = ones({10, 1});
    std::function<Tensor(Tensor)> f = [net](Tensor u) { return with_softplus(net, u); };
    double factorial = 1, worst = 0;
    for (int k = 1; k <= 9; ++k) {
      f = [inner = f, along](Tensor u) { return jvp(inner, u, along).second; };
      factorial *= k;
      worst = std::max(
          worst, bench::distance(slice(y[static_cast<std::size_t>(k)], 0, 0, 1000, 100) * factorial,
                                 f(some)));
    }
    bench::print("ninth_jet_difference", worst, "1");
  }
  {
    const Net net = bench::network({9, 32, 32, 1}, 0.3);
    const Tensor x = 0.3 * normal(random_key(4), {9}), coordinates = eye(9);
    const auto mixed =
        jit([](const Net& n, Tensor x) { return partial(n, std::vector<int>(9, 1))(x); });
    const auto by_nesting = jit([coordinates](const Net& n, Tensor x) {
      return nested([n](Tensor u) { return n(u); }, 0, coordinates)(x);
    });
    Tensor a, b;
    timed("ninth_mixed", [&] { a = mixed(net, x); });
    timed("ninth_mixed_nested", [&] { b = by_nesting(net, x); });
    bench::print("ninth_mixed_difference", bench::distance(a, b), "1");
  }
}
