// SPDX-License-Identifier: Apache-2.0
//
// The biharmonic operator of a tanh network 5-768-768-512-512-1, f64, beside JAX and torch.func
// (peers/biharmonic_peer.py: the Laplacian of the Laplacian by nested jvp of grad, and fourth
// derivatives along directions by jax.experimental.jet or four nested jvps). In vectors carried
// through the network for each point:
//   nested   forward Laplacian twice, (5 + 2)^2 = 49: the default of biharmonic() in five
//   dimensions; biharmonic_fraction is the
//            rate of these products in all of its time, over that of one product of such size
//            (plans share what both Laplacians compute: 43 are left)
//   jet      fourth coefficients along 5 axes and 20 diagonals of planes, collapsed: 3 x 25 + 2 =
//   77
// Bounded by matrix products of that many vectors.
#include "network.h"
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"

using namespace tessera;
using bench::Net;

int main(int argc, char** argv) {
  const Index points = argc > 1 ? std::atoll(argv[1]) : 64;
  const Net net = bench::network({5, 768, 768, 512, 512, 1}, 0.1);
  const Tensor x = normal(random_key(99), {points, 5});
  std::vector<PartialDerivative> terms;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      std::vector<int> orders(5, 0);
      orders[i] += 2, orders[j] += 2;
      terms.push_back({i == j ? 1.0 : 2.0, orders});
    }
  const auto by_default = jit([](const Net& n, Tensor p) { return biharmonic(n)(p); });
  const auto nested = jit([](const Net& n, Tensor p) { return laplacian(laplacian(n))(p); });
  const auto jets =
      jit([terms](const Net& n, Tensor p) { return differential_operator(n, terms)(p); });

  bench::print_machine();
  std::printf("# %lld points, %d threads\n", static_cast<long long>(points), num_threads());
  Tensor y, z;
  const auto arrays = bench::arrays(net, x);
  bench::Peer jax("biharmonic_peer.py", "jax", arrays, num_threads()),
      torch("biharmonic_peer.py", "torch", arrays, num_threads());
  bench::compare(
      "biharmonic_nested_peers", 7, 1, [&] { y = by_default(net, x); }, {&jax, &torch}, "nested");
  bench::compare(
      "biharmonic_jet_peers", 7, 1, [&] { y = by_default(net, x); }, {&jax, &torch}, "jet");
  const bench::Versus v = bench::alternate(
      7, [&] { y = nested(net, x); }, [&] { z = jets(net, x); });
  const Tensor a = normal(random_key(7), {3136, 768}),
               b = normal(random_key(8), {768, 768});  // 49 vectors of 64 points
  Tensor keep;
  const bench::Versus g = bench::alternate(
      7, [&] { y = by_default(net, x); }, [&] { keep = matmul(a, b); });
  double flops = 0;
  for (const Tensor& w : net.w) flops += 2.0 * double(w.size());
  bench::print("biharmonic_fraction",
               49 * flops * double(points) / g.ours / (2.0 * 3136 * 768 * 768 / g.peer), "1");
  bench::print("biharmonic_nested_seconds", v.ours, "s");
  bench::print("biharmonic_jet_seconds", v.peer, "s");
  bench::must_agree("nested and jet", {z}, {y}, 1e-11);
  for (bench::Peer* p : {&jax, &torch})
    for (const char* how : {"nested", "jet"})
      if (p->there())
        bench::must_agree((p->library() + " " + how).c_str(), {y}, p->result(how), 1e-11);
}
