// SPDX-License-Identifier: Apache-2.0
//
// Gradients of GradBench's gmm, lstm and kmeans (there: gradient and diagonal of the Hessian) by this engine and by ADOL-C 2.7, on
// the same input in the same process. ADOL-C runs a tape that was recorded once, outside the timing, as GradBench's own tool for
// it does, on plain loops; ours runs a plan that was made once, on whole arrays, with one thread.
#include <adolc/adolc.h>

#include <memory>

#include "apps/examples/gradbench/gmm.h"
#include "apps/examples/gradbench/kmeans.h"
#include "apps/examples/gradbench/lstm.h"
#include "interleave.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"

using namespace tessera;

namespace {

/// Records f(vector of adouble) at x on tape `tag`.
template <class F>
void record(short tag, const F& f, const std::vector<double>& x) {
  trace_on(tag);
  std::vector<adouble> a(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) a[k] <<= x[k];
  double y;
  adouble v = f(a.data());
  v >>= y;
  trace_off();
}

/// Prints the figures, after a check that both sides agree to the validators' tolerance.
template <class Ours, class Peer>
bool compare(const std::string& name, int rounds, const std::vector<double>& ours, const std::vector<double>& peer, Ours&& run_ours, Peer&& run_peer) {
  if (!gradbench::close("# " + name, ours, peer)) return false;
  const bench::Versus v = bench::alternate(rounds, run_ours, run_peer);
  bench::print(name + "_ratio", v.ratio, "x");
  bench::print(name, v, "adolc");
  return true;
}

bool gmm(const char* name, short tag, int n, int d, int k, int rounds) {
  namespace g = gradbench::gmm;
  const g::Input in = g::make_input(n, d, k);
  const auto x = g::flat(in);
  record(tag, [&](const adouble* v) { return g::plain_objective(in, v); }, x);
  const Tensor points = tensor(in.x, {n, d});
  const auto step = jit([&](const g::Params& p) { return grad([&](const g::Params& p) { return g::objective(in, points, p); })(p); });
  const g::Params p = g::params(in);
  std::vector<double> peer(x.size());
  const auto run_peer = [&] { gradient(tag, static_cast<int>(x.size()), const_cast<double*>(x.data()), peer.data()); };
  run_peer();
  return compare(name, rounds, g::flat(step(p)), peer, [&] { step(p); }, run_peer);
}

bool lstm(const char* name, short tag, int layers, int steps, int rounds) {
  namespace l = gradbench::lstm;
  const l::Input in = l::make_input(layers, steps, 14);
  auto x = in.main;
  x.insert(x.end(), in.extra.begin(), in.extra.end());
  record(tag, [&](const adouble* v) { return l::plain_objective(in, v); }, x);
  const auto step = jit([&](const l::Params& p) { return grad([&](const l::Params& p) { return l::objective(in, p); })(p); });
  const l::Params p = l::params(in);
  const auto run = [&] {
    const l::Params g = step(p);
    auto v = flatten(g.main).to_vector();
    const auto e = flatten(g.extra).to_vector();
    v.insert(v.end(), e.begin(), e.end());
    return v;
  };
  std::vector<double> peer(x.size());
  const auto run_peer = [&] { gradient(tag, static_cast<int>(x.size()), const_cast<double*>(x.data()), peer.data()); };
  run_peer();
  return compare(name, rounds, run(), peer, [&] { run(); }, run_peer);
}

bool kmeans(const char* name, short tag, std::size_t n, std::size_t k, std::size_t d, int rounds) {
  namespace m = gradbench::kmeans;
  const m::Input in = m::make_input(n, k, d);
  const auto& x = in.centroids;
  record(tag, [&](const adouble* v) { return m::plain_cost(in, v); }, x);
  const Tensor points = tensor(in.points, {static_cast<Index>(n), static_cast<Index>(d)}), c = tensor(x, {static_cast<Index>(k), static_cast<Index>(d)});
  const auto step = jit([&](const Tensor& c) { return m::direction(points, c).second; });
  std::vector<double> first(x.size()), second(x.size()), along(x.size(), 1.0), peer(x.size());
  const auto run_peer = [&] {
    gradient(tag, static_cast<int>(x.size()), const_cast<double*>(x.data()), first.data());
    hess_vec(tag, static_cast<int>(x.size()), const_cast<double*>(x.data()), along.data(), second.data());
    for (std::size_t e = 0; e < x.size(); ++e) peer[e] = first[e] / second[e];
  };
  run_peer();
  return compare(name, rounds, flatten(step(c)).to_vector(), peer, [&] { step(c); }, run_peer);
}

}  // namespace

int main() {
  set_num_threads(1);
  bench::print_machine();
  std::printf("# one thread; time of ADOL-C over ours, more is better for us\n");
  std::printf("# gmm: n 1000, d 10, k 25; gmm_large: n 1000, d 32, k 10; lstm: 2 layers, 1024 characters; kmeans: n 10000, k 50, d 10\n");
  bool ok = gmm("gmm", 1, 1000, 10, 25, 9);
  ok &= gmm("gmm_large", 2, 1000, 32, 10, 7);
  ok &= lstm("lstm", 3, 2, 1024, 15);
  ok &= kmeans("kmeans", 4, 10000, 50, 10, 7);
  return ok ? 0 : 1;
}
