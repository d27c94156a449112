// SPDX-License-Identifier: Apache-2.0
//
// The misfit of a section and its gradient beside SimPEG (peers/sections_peer.py; R. Cockett et al.
// 2015, doi:10.1016/j.cageo.2015.09.015): 100 x 64 cells with padding and air, each cell of the
// earth a resistivity of its own, 20 frequencies, TE and TM, 36 stations. SimPEG with MUMPS
// (python-mumps); once with SuperLU, to see that this is slower. Bounded by factors and solves.
//   sections_simpeg_bench [--threads N] [--rounds N]
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/inversion/forward_2d.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

using namespace tessera;
using namespace tessera::inversion;

namespace {

struct Lines {
  std::vector<double> y{0}, z;
};
/// Columns of 8 km, rows of 2 x 1.146^i m, padding at the sides and below, air.
Lines lines() {
  Lines l;
  for (int k = 0; k < 100; ++k) l.y.push_back(l.y.back() + 8260);
  for (double step = 8260; l.y.size() < 111; step *= 1.5) {
    l.y.push_back(l.y.back() + step);
    l.y.insert(l.y.begin(), l.y.front() - step);
  }
  for (double at = 2, step = 2; at < 2e6; step *= 1.6, at += step) l.z.insert(l.z.begin(), -at);
  l.z.push_back(0);
  for (int k = 0; k < 64; ++k) l.z.push_back(l.z.back() + 2 * std::pow(1.146, k));
  for (double step = 15000; l.z.back() < 5e5; step *= 1.5) l.z.push_back(l.z.back() + step);
  return l;
}

/// 100 ohm m with hills and valleys of a factor e, wider than the cells.
double ln_rho_at(double y, double z) {
  return std::log(100) +
         std::sin(2 * std::numbers::pi * y / 4e5) * std::sin(std::log(std::max(z, 1.0)));
}

double number(int argc, char** argv, const char* name, double otherwise) {
  for (int k = 1; k + 1 < argc; ++k)
    if (std::strcmp(argv[k], name) == 0) return std::atof(argv[k + 1]);
  return otherwise;
}

/// Real and imaginary part: [..., 2].
Tensor parts(const Tensor& z) { return stack({real(z), imag(z)}, -1); }

}  // namespace

int main(int argc, char** argv) {
  const int threads = static_cast<int>(number(argc, argv, "--threads", 1)),
            rounds = static_cast<int>(number(argc, argv, "--rounds", 3));
  set_num_threads(threads);
  const Lines l = lines();
  std::vector<double> start;
  const Index columns = static_cast<Index>(l.y.size()) - 1,
              rows = static_cast<Index>(l.z.size()) - 1;
  const Mesh2d mesh = tensor_mesh(l.y, l.z, std::vector{0.0}, [&](double y, double z) {
    if (z < 0) return air();
    start.push_back(ln_rho_at(y, z));
    return Medium2d{.parameter = static_cast<Index>(start.size()) - 1};
  });
  std::vector<double> sigma;
  for (Index c = 0; c < mesh.cells(); ++c)
    sigma.push_back(mesh.medium[c].is_air()
                        ? std::numeric_limits<double>::quiet_NaN()
                        : std::exp(-start[static_cast<std::size_t>(mesh.medium[c].parameter)]));
  std::vector<double> frequency, station;
  for (int k = 0; k < 20; ++k) frequency.push_back(std::pow(10, -3 + 4.0 * k / 19));
  for (int k = 0; k < 36; ++k) station.push_back(40000 + 21000.0 * k);
  const Forward2d forward(mesh, sensors_on(mesh, 0, station), frequency, {.tipper = false});
  const Tensor m = tensor(start);

  // TE, and TM with the sign of a positive real part: [2, frequencies, stations, parts].
  const auto data = [&](const Tensor& x) {
    const Responses2d r = forward(x);
    return stack({parts(r.te), parts(-r.tm)});
  };
  const Tensor responses = data(m), observed = data(0.9 * m),
               error =
                   0.05 * ones(observed.shape()) * expand_dims(sqrt(sum(square(observed), {3})), 3);
  const auto gradient = jit(
      value_and_grad([&](const Tensor& x) { return sum(square((data(x) - observed) / error)); }));

  bench::print_machine();
  std::printf("# %ld nodes, %ld resistivities, %d threads\n", mesh.vertices(), mesh.parameters(),
              threads);
  const std::map<std::string, Tensor> arrays = {{"y", tensor(l.y)},
                                                {"z", tensor(l.z)},
                                                {"sigma", reshape(tensor(sigma), {rows, columns})},
                                                {"frequency", tensor(frequency)},
                                                {"station", tensor(station)},
                                                {"observed", observed},
                                                {"error", error}};
  bench::Peer mumps("sections_peer.py", "simpeg_mumps", arrays, threads),
      superlu("sections_peer.py", "simpeg_superlu", arrays, threads);
  std::pair<Tensor, Tensor> ours;
  bench::compare(
      "misfit_gradient", rounds, 1, [&] { ours = gradient(m); }, {&mumps}, "gradient");
  if (!mumps.there()) return 0;
  bench::print("simpeg_superlu_seconds", superlu.seconds("gradient"), "s");
  const double misfit = mumps.result("gradient")[0].to_vector()[0];
  bench::print("misfit_difference", std::abs(misfit / ours.first.item() - 1), "1");
  (void)mumps.seconds("responses");
  const auto theirs = mumps.result("responses");  // TE, TM: [frequencies, parts, stations]
  double worst = 0;
  for (int side = 0; side < 2; ++side) {
    const Tensor their = transpose(theirs[static_cast<std::size_t>(side)], {0, 2, 1}),
                 mine = squeeze(slice(responses, 0, side, side + 1), {0});
    worst =
        std::max(worst, sqrt(max(sum(square(their - mine), {2}) / sum(square(mine), {2}))).item());
  }
  bench::print("responses_difference", worst, "1");
}
