// SPDX-License-Identifier: Apache-2.0
//
// Gradients of GradBench's gmm, lstm and kmeans (there: gradient and diagonal of the Hessian) by
// this engine and by a library that tapes plain loops with overloaded scalars, on the same input in
// the same process. The peer runs a tape that was recorded once, outside the timing, as GradBench's
// own tools do; ours runs a plan that was made once, on whole arrays. One thread each.
//
// A peer is a type Tape with
//   Tape(f, x)                 records f(const Scalar*) at x
//   gradient(x, g)             g = f'(x)
//   hessian_vector(x, v, h)    h = f''(x) v
#pragma once
#include "apps/examples/gradbench/gmm.h"
#include "apps/examples/gradbench/kmeans.h"
#include "apps/examples/gradbench/lstm.h"
#include "interleave.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"

#include <memory>

namespace gradbench {

/// Prints the figures, after a check that both sides agree to the validators' tolerance.
template <class Ours, class Peer>
bool compare(const char* peer_name, const std::string& name, int rounds, const Doubles& ours,
             const Doubles& peer, Ours&& run_ours, Peer&& run_peer) {
  if (!close("# " + name, ours, peer)) return false;
  const bench::Versus v = bench::alternate(rounds, run_ours, run_peer);
  bench::print(name + "_ratio", v.ratio, "x");
  bench::print(name, v, peer_name);
  return true;
}

template <class Tape>
bool gmm_beside(const char* peer_name, const char* name, int n, int d, int k, int rounds) {
  const gmm::Input in = gmm::make_input(n, d, k);
  const Doubles x = gmm::flat(in);
  Tape tape([&](const auto* v) { return gmm::plain_objective(in, v); }, x);
  const tessera::Tensor points = tessera::tensor(in.x, {n, d});
  const auto step = tessera::jit([&](const gmm::Params& p) {
    return tessera::grad([&](const gmm::Params& p) { return gmm::objective(in, points, p); })(p);
  });
  const gmm::Params p = gmm::params(in);
  Doubles peer(x.size());
  const auto run_peer = [&] { tape.gradient(x, peer); };
  run_peer();
  return compare(
      peer_name, name, rounds, gmm::flat(step(p)), peer, [&] { step(p); }, run_peer);
}

template <class Tape>
bool lstm_beside(const char* peer_name, const char* name, int layers, int steps, int rounds) {
  const lstm::Input in = lstm::make_input(layers, steps, 14);
  Doubles x = in.main;
  x.insert(x.end(), in.extra.begin(), in.extra.end());
  Tape tape([&](const auto* v) { return lstm::plain_objective(in, v); }, x);
  const auto step = tessera::jit([&](const lstm::Params& p) {
    return tessera::grad([&](const lstm::Params& p) { return lstm::objective(in, p); })(p);
  });
  const lstm::Params p = lstm::params(in);
  const auto run = [&] {
    const lstm::Params g = step(p);
    Doubles v = tessera::flatten(g.main).to_vector();
    const Doubles e = tessera::flatten(g.extra).to_vector();
    v.insert(v.end(), e.begin(), e.end());
    return v;
  };
  Doubles peer(x.size());
  const auto run_peer = [&] { tape.gradient(x, peer); };
  run_peer();
  return compare(
      peer_name, name, rounds, run(), peer, [&] { run(); }, run_peer);
}

template <class Tape>
bool kmeans_beside(const char* peer_name, const char* name, std::size_t n, std::size_t k,
                   std::size_t d, int rounds) {
  using tessera::Index;
  const kmeans::Input in = kmeans::make_input(n, k, d);
  const Doubles& x = in.centroids;
  Tape tape([&](const auto* v) { return kmeans::plain_cost(in, v); }, x);
  const tessera::Tensor points =
      tessera::tensor(in.points, {static_cast<Index>(n), static_cast<Index>(d)});
  const tessera::Tensor c = tessera::tensor(x, {static_cast<Index>(k), static_cast<Index>(d)});
  const auto step =
      tessera::jit([&](const tessera::Tensor& c) { return kmeans::direction(points, c).second; });
  Doubles first(x.size()), second(x.size()), peer(x.size());
  const Doubles along(x.size(), 1.0);
  const auto run_peer = [&] {
    tape.gradient(x, first);
    tape.hessian_vector(x, along, second);
    for (std::size_t e = 0; e < x.size(); ++e) peer[e] = first[e] / second[e];
  };
  run_peer();
  return compare(
      peer_name, name, rounds, tessera::flatten(step(c)).to_vector(), peer, [&] { step(c); },
      run_peer);
}

/// All of them; the exit code of the program.
template <class Tape>
int beside(const char* peer_name) {
  tessera::set_num_threads(1);
  bench::print_machine();
  std::printf("# one thread; time of %s over ours, more is better for us\n", peer_name);
  std::printf(
      "# gmm: n 1000, d 10, k 25; gmm_large: n 1000, d 32, k 10; lstm: 2 layers, 1024 characters; "
      "kmeans: n 10000, k 50, d 10\n");
  bool ok = gmm_beside<Tape>(peer_name, "gmm", 1000, 10, 25, 9);
  ok &= gmm_beside<Tape>(peer_name, "gmm_large", 1000, 32, 10, 7);
  ok &= lstm_beside<Tape>(peer_name, "lstm", 2, 1024, 15);
  ok &= kmeans_beside<Tape>(peer_name, "kmeans", 10000, 50, 10, 7);
  return ok ? 0 : 1;
}

}  // namespace gradbench
