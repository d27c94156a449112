// SPDX-License-Identifier: Apache-2.0
//
// Inverse scattering: two discs of permittivity 4 found from what eight receivers see of four
// sources (MindScience, MindElec example AD_FDTD/fdtd_inverse, whose labels it reads and whose log
// is the bar: loss 2.114e-1 to 1.071e-4 in 100 epochs of Adam at 0.1, PSNR 27.835 dB, SSIM 0.9636).
//   inverse_discs_bench [--method adam|lbfgs] [--epochs N] [--threads N] [--type f32|f64]
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/npy.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/design.h"
#include "tessera/electromagnetics/yee_primitive.h"
#include "test_paths.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

using namespace tessera;
using namespace tessera::electromagnetics;

namespace {

constexpr int cells = 100, steps = 350, free_low = 30, free_high = 70;
constexpr double cell = 0.01;

struct Problem {
  DesignRegion all, region;  ///< of every node, and of the unknown cells
  YeeOpPtr op;               ///< vacuum outside of the region
  YeeOpPtr whole;            ///< every node is free: for the true model
  Tensor currents;           ///< [source, step, source]: one is on at a time
  Tensor labels;             ///< [source, step, receiver]
};

YeeModel model(Dtype dtype) {
  YeeModel m;
  m.grid =
      uniform_grid({cells * cell, cells * cell, 0}, cell, {cells * cell / 2, cells * cell / 2, 0});
  m.pml = {.cells = 10, .order = 4, .sigma_factor = 1.5, .kappa_max = 11};
  m.dt_s = 0.9 * stable_time_step(m.grid);
  m.dtype = dtype;
  m.active = {false, false, true, true, true, false};
  for (const auto& [x, y] : {std::pair{20, 50}, {50, 20}, {80, 50}, {50, 80}})
    m.injected.push_back({Ez, x, y, 0});
  for (const int x : {25, 50, 75})
    for (const int y : {25, 50, 75})
      if (x != 50 || y != 50) m.recorded.push_back({Ez, x, y, 0});
  return m;
}

Problem problem(const std::filesystem::path& data, Dtype dtype) {
  Problem p;
  YeeModel m = model(dtype), whole = model(dtype);
  p.region =
      design_region(m.grid, m.faces, {free_low, free_low, 0}, {free_high, free_high, 1}, {Ez});
  p.all = design_region(m.grid, m.faces, {0, 0, 0}, {cells, cells, 1}, {Ez});
  m.traced = p.region.edges;
  whole.traced = p.all.edges;
  const double tau = 0.5 / 1.4e9, t0 = 4.5 * tau, dt = m.dt_s;
  p.op = yee_op(std::move(m));
  p.whole = yee_op(std::move(whole));
  std::vector<double> w(4 * steps * 4, 0.0);
  for (int s = 0; s < 4; ++s)
    for (int n = 0; n < steps; ++n) {
      const double x = ((n + 0.5) * dt - t0) / tau;
      w[(s * steps + n) * 4 + s] =
          -vacuum_impedance * cell * std::exp(-x * x);  // J = 1 A/m^2 times cell^2, over the cell
    }
  p.currents = tensor(w, {4, steps, 4});
  const Tensor labels = cast(load_npy(data / "inverse_two_discs_ez_labels.npy"),
                             Dtype::f64);  // [step, source, receiver]
  p.labels = transpose(slice(labels, 0, 0, steps), {1, 0, 2});
  return p;
}

/// [source, step, receiver].
Tensor fields(const Problem& p, const YeeOpPtr& op, const Tensor& inverse_eps) {
  const Tensor c = coefficients(op, inverse_eps);
  return cast(vmap([&](Tensor w) {
                return simulate(op, c, w, {.block = steps, .checkpoint = Checkpoint::all()});
              })(p.currents),
              Dtype::f64);
}
Tensor permittivity(const Tensor& rho) {
  return 1.0 + where(rho > 0.0, rho, 0.01 * (exp(minimum(rho, 0.0)) - 1.0));
}

/// Over the whole map, the region amid vacuum: peak signal-to-noise ratio in dB for a range of 3,
/// and structural similarity with one window.
std::pair<double, double> quality(const Tensor& eps_region, const Tensor& truth) {
  const Index n = free_high - free_low;
  const Tensor eps = pad(reshape(eps_region, {n, n}) - 1.0, {free_low, free_low},
                         {cells - free_high, cells - free_high}) +
                     1.0;
  const double mse = mean(square(eps - truth)).item(), range = 3, c1 = 0.01 * range,
               c2 = 0.03 * range;
  const double ma = mean(eps).item(), mb = mean(truth).item();
  const double va = mean(square(eps - ma)).item(), vb = mean(square(truth - mb)).item(),
               cov = mean((eps - ma) * (truth - mb)).item();
  return {10 * std::log10(range * range / mse),
          (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2))};
}

}  // namespace

int main(int argc, char** argv) {
  std::string method = "adam", type = "f64";
  int epochs = 100, threads = 2;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--method"))
      method = argv[i + 1];
    else if (!std::strcmp(argv[i], "--type"))
      type = argv[i + 1];
    else if (!std::strcmp(argv[i], "--epochs"))
      epochs = std::atoi(argv[i + 1]);
    else if (!std::strcmp(argv[i], "--threads"))
      threads = std::atoi(argv[i + 1]);
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  const char* root = std::getenv("TESSERA_TEST_DATA");
  const std::filesystem::path data =
      std::filesystem::path(root ? root : TESSERA_DEFAULT_TEST_DATA) / "em";
  if (!std::filesystem::exists(data / "inverse_two_discs_ez_labels.npy"))
    return std::printf("skipped: no test data\n"), 0;
  set_num_threads(threads);
  const Problem p = problem(data, type == "f32" ? Dtype::f32 : Dtype::f64);
  const Tensor stored =
      cast(load_npy(data / "inverse_two_discs_epsr_labels.npy"), Dtype::f64);  // [x, y]
  const Tensor truth = transpose(reshape(stored, {cells, cells}));

  const Tensor seen = fields(p, p.whole, inverse_permittivity(p.all, truth));
  benchmarks::print_figure("inverse_discs_forward",
                           std::sqrt((sum(square(seen - p.labels)) / sum(square(p.labels))).item()),
                           "1");

  const auto loss = [&](const Tensor& rho) {
    const Tensor e = fields(p, p.op, inverse_permittivity(p.region, permittivity(rho)));
    return sum(square(e - p.labels));
  };
  const double start = benchmarks::seconds_now();
  const Index n = free_high - free_low;
  Tensor rho = zeros({n, n});
  const auto report = [&](int epoch, double value) {
    const auto [psnr, ssim] = quality(permittivity(rho), truth);
    std::printf("%4d: loss %.4e, PSNR %.3f dB, SSIM %.4f, %.1f s\n", epoch, value, psnr, ssim,
                benchmarks::seconds_now() - start);
    return std::pair(psnr, ssim);
  };
  const auto conclude = [&](int epoch, double value) {
    const auto [psnr, ssim] = report(epoch, value);
    benchmarks::print_figure("inverse_discs_psnr", psnr, "dB");
    benchmarks::print_figure("inverse_discs_ssim", ssim, "1");
    return 0;
  };
  if (method == "lbfgs") {
    const auto r = minimize(
        loss, rho,
        {.method = Method::lbfgs, .gradient_tolerance = 0, .max_iterations = epochs, .jit = false});
    rho = r.x;
    std::printf("%d evaluations\n", r.evaluations);
    return conclude(r.iterations, r.value);
  }
  const Optimizer o = adam(constant_rate(0.1));
  OptimizerState state = o.init(rho);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto [value, g] = value_and_grad(loss)(rho);
    if (epoch % 10 == 0) report(epoch, value.item());
    std::tie(rho, state) = o.update(rho, g, state);
  }
  return conclude(epochs, loss(rho).item());
}
