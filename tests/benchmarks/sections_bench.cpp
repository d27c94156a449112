// SPDX-License-Identifier: Apache-2.0
//
// A section of 100 x 64 resistivities (rows 2 x 1.146^i m, columns of 8 km) with padding and air,
// 20 frequencies, TE, 36 stations: responses, all derivatives, a product with the exact Hessian of
// the misfit given factors and fields, of one direction and of eight together.
#include "measure.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_2d.h"

#include <sys/resource.h>

#include <cmath>
#include <cstdio>

using namespace tessera;
using namespace tessera::inversion;
using namespace tessera::benchmarks;

int main() {
  std::vector<double> y{0}, z;
  for (int k = 0; k < 100; ++k) y.push_back(y.back() + 8260);
  for (double step = 8260; y.size() < 111; step *= 1.5) {
    y.push_back(y.back() + step);
    y.insert(y.begin(), y.front() - step);
  }
  std::vector<double> depth{0};
  for (int k = 0; k < 64; ++k) depth.push_back(depth.back() + 2 * std::pow(1.146, k));
  for (double at = 2, step = 2; at < 2e6; step *= 1.6, at += step) z.insert(z.begin(), -at);
  z.insert(z.end(), depth.begin(), depth.end());
  for (double step = 15000; z.back() < 5e5; step *= 1.5) z.push_back(z.back() + step);
  const double right = 100 * 8260.0, bottom = depth.back();
  const Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0}, [&](double at, double down) {
    if (down < 0) return air();
    const auto column = static_cast<Index>(std::clamp(at, 0.0, right * 0.9999) / 8260);
    Index row = 0;
    while (row < 63 && std::min(down, bottom) > depth[row + 1]) ++row;
    return Medium2d{.parameter = column * 64 + row};
  });
  std::vector<double> frequency, stations;
  for (int k = 0; k < 20; ++k) frequency.push_back(std::pow(10, -3 + 4.0 * k / 19));
  for (int k = 0; k < 36; ++k) stations.push_back(40000 + 21000.0 * k);
  const Forward2d forward(mesh, sensors_on(mesh, 0, stations), frequency,
                          {.tm = false, .tipper = false});
  std::vector<double> start(6400);
  for (std::size_t k = 0; k < start.size(); ++k)
    start[k] = std::log(100) + std::sin(0.37 * double(k)) * std::cos(0.011 * double(k));
  const Tensor m = tensor(start);
  std::printf("# %ld nodes, %ld parameters\n", mesh.vertices(), mesh.parameters());

  const auto data = [&](const Tensor& x) {
    const Tensor te = forward(x).te;
    return concatenate(
        {flatten(ln_apparent_resistivity(te, frequency)), flatten(phase_degrees(te))});
  };
  const Tensor observed = data(0.9 * m);
  const auto misfit = [&](const Tensor& x) { return 0.5 * sum(square(data(x) - observed)); };
  (void)forward(m).te.to_vector<c128>();
  const auto peak = [](const char* name) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    print_figure(name, double(usage.ru_maxrss) / 1024, "MiB");
  };
  peak("forward_peak");
  Samples forwards, jacobians, products;
  for (int k = 0; k < 7; ++k) {
    forwards.add(seconds_of([&] { (void)forward(m).te.to_vector<c128>(); }));
    jacobians.add(seconds_of([&] { (void)forward.jacobian(m).te.to_vector<c128>(); }));
  }
  peak("jacobian_peak");
  const auto [gradient, product] = linearize(grad(misfit), m);
  const Tensor w = cos(m);
  const auto planned = jit([&by = product](const Tensor& x) { return by(x); });
  const auto multiply = [&] { (void)planned(w).to_vector<double>(); };
  multiply();
  for (int k = 0; k < 7; ++k) products.add(seconds_of(multiply));
  peak("peak");
  constexpr Index together = 8;
  std::vector<Tensor> directions;
  for (Index k = 0; k < together; ++k) directions.push_back(cos(double(k + 1) * m));
  const Tensor block = stack(directions);
  const auto planned_block = jit(
      [&by = product](const Tensor& x) { return vmap([&](const Tensor& v) { return by(v); })(x); });
  const auto multiply_block = [&] { (void)planned_block(block).to_vector<double>(); };
  multiply_block();
  Samples blocks;
  for (int k = 0; k < 7; ++k) blocks.add(seconds_of(multiply_block) / double(together));
  print_figure("forward", forwards.median(), "s");
  print_figure("forward_spread", forwards.spread(), "1");
  print_figure("forward_and_jacobian", jacobians.median(), "s");
  print_figure("forward_and_jacobian_spread", jacobians.spread(), "1");
  print_figure("hessian_product", products.median(), "s");
  print_figure("hessian_product_of_forward", products.median() / forwards.median(), "1");
  print_figure("hessian_product_of_forward_in_blocks", blocks.median() / forwards.median(), "1");
}
