// SPDX-License-Identifier: Apache-2.0
//
// One training gradient of a network that solves Maxwell's equations in a cavity: E(x) = net(x),
// R^3 -> R^3, tanh, 6 layers of 32; residuals r = curl curl E - k^2 E and d = div E at 256 points,
// loss mean |r|^2 + mean d^2, its gradient to all weights. f64, all sides on the same weights and
// points. The same with the residual -laplacian E - k^2 E, which is that of a field without
// divergence (cavity_laplacian).
//   ours       derivatives(net), 1 + 3 + 6 vectors a point, planned by jit (value_and_laplacian: 1
//   + 3 + 1); and, for
//              comparison, the same residual written curl(curl(net)) and divergence(net), which
//              carry 16 and 4
//   libtorch   3 gradients and 9 second gradients with create_graph, as a user of autograd writes
//   it; the same from
//              PyPI's torch, and vmap of jacfwd of jacfwd under jit in JAX (peers/cavity_peer.py),
//              in processes of their own
// Ours is bounded by products with 32 x 32 matrices (81 and 41 Mflop) and passes over [256, 32]
// arrays.
#include "interleave.h"
#include "network.h"
#include "openblas_choice.h"
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace {

using namespace tessera;
using bench::Net;
constexpr double k2 = 9.0;

Tensor loss(const Net& net, const Tensor& x) {
  const PointDerivatives e = derivatives(net, x);
  const auto h = [&](int c, int i, int j) { return select(e.d(i, j), 1, c); };
  std::vector<Tensor> r;
  for (int c = 0; c < 3; ++c) {  // (curl curl E)_c = d_c div E - laplacian E_c
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    r.push_back(h(a, a, c) + h(b, b, c) - h(c, a, a) - h(c, b, b) - k2 * select(e.value, 1, c));
  }
  Tensor d = zeros({x.dim(0)});
  for (int c = 0; c < 3; ++c) d = d + select(e.d(c), 1, c);
  return mean(square(stack(r, 1))) + mean(square(d));
}
Tensor loss_of_operators(const Net& net, const Tensor& x) {
  return mean(square(curl(curl(net))(x) - k2 * net(x))) + mean(square(divergence(net)(x)));
}

Tensor loss_of_laplacian(const Net& net, const Tensor& x) {
  const PointLaplacian e = value_and_laplacian(net, x);
  Tensor d = zeros({x.dim(0)});
  for (int c = 0; c < 3; ++c) d = d + select(e.d(c), 1, c);
  return mean(square(e.laplacian + k2 * e.value)) + mean(square(d));
}

at::Tensor torch_loss(const std::vector<at::Tensor>& p, const at::Tensor& x, bool by_laplacian) {
  at::Tensor u = x;
  for (std::size_t k = 0; k < p.size(); k += 2) {
    u = at::addmm(p[k + 1], u, p[k]);
    if (k + 2 < p.size()) u = at::tanh(u);
  }
  std::array<at::Tensor, 3> first;                  // [c] = grad E_c, [points, 3]
  std::array<std::array<at::Tensor, 3>, 3> second;  // [c][j] = grad of dE_c/dx_j
  for (int c = 0; c < 3; ++c) {
    first[c] = torch::autograd::grad({u.select(1, c).sum()}, {x}, {}, true, true)[0];
    for (int j = 0; j < 3; ++j)
      second[c][j] = torch::autograd::grad({first[c].select(1, j).sum()}, {x}, {}, true, true)[0];
  }
  const auto h = [&](int c, int i, int j) { return second[c][i].select(1, j); };
  std::vector<at::Tensor> r;
  for (int c = 0; c < 3; ++c) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    if (by_laplacian)
      r.push_back(h(c, 0, 0) + h(c, 1, 1) + h(c, 2, 2) + k2 * u.select(1, c));
    else
      r.push_back(h(a, a, c) + h(b, b, c) - h(c, a, a) - h(c, b, b) - k2 * u.select(1, c));
  }
  const at::Tensor d = first[0].select(1, 0) + first[1].select(1, 1) + first[2].select(1, 2);
  return at::mean(at::square(at::stack(r, 1))) + at::mean(at::square(d));
}

at::Tensor theirs(const Tensor& t) {
  const std::vector<double> values = t.to_vector();
  return at::from_blob(const_cast<double*>(values.data()),
                       std::vector<std::int64_t>(t.shape().begin(), t.shape().end()), at::kDouble)
      .clone()
      .set_requires_grad(true);
}
Tensor from(const at::Tensor& t) {
  const at::Tensor c = t.detach().contiguous();
  return tensor(std::vector<double>(c.data_ptr<double>(), c.data_ptr<double>() + c.numel()));
}

}  // namespace

int main(int, char** argv) {
  bench::let_openblas_choose(argv);
  bench::print_machine();
  std::printf("# %d threads\n", num_threads());
  at::set_num_threads(num_threads());
  const Net net = bench::network({3, 32, 32, 32, 32, 32, 32, 3}, 0.1);
  const Tensor x = uniform(random_key(5), {256, 3});
  const auto step = jit([](const Net& n, Tensor p) { return value_and_grad(loss)(n, p); });
  const auto by_operators =
      jit([](const Net& n, Tensor p) { return value_and_grad(loss_of_operators)(n, p); });
  std::vector<at::Tensor> p;
  for (const Tensor& t : bench::in_order(net)) p.push_back(theirs(t));
  const at::Tensor tx = theirs(x);

  std::pair<Tensor, Net> g, go;
  std::vector<at::Tensor> tg;
  const auto torch = [&](bool by_laplacian) {
    tg = torch::autograd::grad({torch_loss(p, tx, by_laplacian)}, p);
  };
  bench::Peer jax("cavity_peer.py", "jax", bench::arrays(net, x), num_threads()),
      pypi("cavity_peer.py", "torch", bench::arrays(net, x), num_threads());
  bench::compare(
      "cavity_peers", 21, 5, [&] { g = step(net, x); }, {&jax, &pypi}, "gradient");
  // As in training, one step after the other.
  constexpr int steps = 5;
  const auto train = [](auto&& one) {
    return [&one] {
      for (int k = 0; k < steps; ++k) one();
    };
  };
  const auto per_step = [](bench::Versus v) {
    v.ours /= steps, v.peer /= steps;
    return v;
  };
  const auto ours = [&] { g = step(net, x); };
  const auto ours_by_operators = [&] { go = by_operators(net, x); };
  const auto autograd = [&] { torch(false); };
  const bench::Versus v = per_step(bench::alternate(15, train(ours), train(autograd)));
  const bench::Versus o = per_step(bench::alternate(15, train(ours_by_operators), train(ours)));
  const auto theirs_now = [&] {
    std::vector<Tensor> out;
    for (const at::Tensor& t : tg) out.push_back(from(t));
    return out;
  };
  bench::must_agree("libtorch", bench::in_order(g.second), theirs_now(), 1e-10);
  bench::must_agree("operators", bench::in_order(go.second), theirs_now(), 1e-10);
  for (bench::Peer* q : {&jax, &pypi})
    if (q->there())
      bench::must_agree(q->library().c_str(), bench::in_order(g.second), q->result("gradient"),
                        1e-10);
  bench::print("cavity", v, "libtorch");
  bench::print("cavity_operators_seconds", o.ours, "s");
  bench::print("cavity_ratio", v.ratio, "x");
  const auto by_laplacian =
      jit([](const Net& n, Tensor p) { return value_and_grad(loss_of_laplacian)(n, p); });
  const auto ours_by_laplacian = [&] { g = by_laplacian(net, x); };
  const auto autograd_of_laplacian = [&] { torch(true); };
  const bench::Versus l =
      per_step(bench::alternate(15, train(ours_by_laplacian), train(autograd_of_laplacian)));
  bench::must_agree("libtorch, Laplacian", bench::in_order(g.second), theirs_now(), 1e-10);
  bench::print("cavity_laplacian", l, "libtorch");
  bench::print("cavity_laplacian_ratio", l.ratio, "x");
}
