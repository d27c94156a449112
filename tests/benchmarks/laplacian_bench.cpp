// SPDX-License-Identifier: Apache-2.0
//
// The Laplacian of a tanh network 50-768-768-512-512-1 at 256 points, f64, and its gradient to the
// weights, beside the rate of the matrix product alone, and beside JAX and torch.func, which
// differentiate the gradient along every coordinate (peers/laplacian_peer.py). One forward pass
// costs F = 2 sum w_i w_{i+1} flops a point; the collapsed Laplacian of 50 directions costs 52 F,
// with the gradient to the weights 156 F. Bounded by matrix products.
#include "interleave.h"
#include "network.h"
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"

using namespace tessera;
using bench::Net;

int main(int argc, char** argv) {
  const Index points = argc > 1 ? std::atoll(argv[1]) : 256;
  const std::vector<Index> widths{50, 768, 768, 512, 512, 1};
  double flops = 0;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k)
    flops += 2.0 * double(widths[k]) * double(widths[k + 1]);
  const Net net = bench::network(widths);
  const Tensor x = tessera::normal(tessera::random_key(99), {points, 50});
  const Tensor a = tessera::normal(tessera::random_key(7), {13312, 768}),
               b = tessera::normal(tessera::random_key(8), {768, 768});
  bench::print_machine();
  const double gemm_flops = 2.0 * 13312 * 768 * 768;
  Tensor keep;
  const auto gemm = [&] { keep = matmul(a, b); };

  const auto lap = tessera::jit([](const Net& n, Tensor p) { return laplacian(n)(p); });
  const auto loss = [](const Net& n, Tensor p) { return mean(square(laplacian(n)(p))); };
  const auto step =
      tessera::jit([loss](const Net& n, Tensor p) { return tessera::value_and_grad(loss)(n, p); });
  Tensor y;
  Net g;
  bench::Peer jax("laplacian_peer.py", "jax", bench::arrays(net, x), num_threads()),
      torch("laplacian_peer.py", "torch", bench::arrays(net, x), num_threads());
  bench::compare(
      "laplacian_value", 7, 1, [&] { y = lap(net, x); }, {&jax, &torch}, "value");
  bench::compare(
      "laplacian_step", 7, 1, [&] { g = step(net, x).second; }, {&jax, &torch}, "gradient");
  for (bench::Peer* p : {&jax, &torch}) {
    if (!p->there()) continue;
    bench::must_agree(p->library().c_str(), {y}, p->result("value"), 1e-11);
    bench::must_agree(p->library().c_str(), bench::in_order(g), p->result("gradient"), 1e-9);
  }

  const bench::Versus forward = bench::alternate(
      9, [&] { y = lap(net, x); }, gemm);
  const bench::Versus backward = bench::alternate(
      7, [&] { g = step(net, x).second; }, gemm);
  const double dgemm = gemm_flops / forward.peer / 1e9, dgemm2 = gemm_flops / backward.peer / 1e9;
  const double ours = 52 * flops * double(points) / forward.ours / 1e9,
               with_gradient = 156 * flops * double(points) / backward.ours / 1e9;
  bench::print("dgemm", dgemm, "GFLOP/s");
  bench::print("laplacian_seconds", forward.ours, "s");
  bench::print("laplacian_rate", ours, "GFLOP/s");
  bench::print("laplacian_fraction", ours / dgemm, "1");
  bench::print("laplacian_gradient_seconds", backward.ours, "s");
  bench::print("laplacian_gradient_rate", with_gradient, "GFLOP/s");
  bench::print("laplacian_gradient_fraction", with_gradient / dgemm2, "1");
}
