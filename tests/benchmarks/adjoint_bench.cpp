// SPDX-License-Identifier: Apache-2.0
//
// What a gradient costs: the power through a plane at ten frequencies, with respect to the
// permittivity of 100,000 cells of a 3-D model, beside the same run without derivatives (its
// monitor and running transform included).
//   adjoint_bench [--cells N] [--steps T] [--pulse P] [--threads N] [--repeat N] [--type f32|f64]
//   [--check H] [--curve H,H,..]
// The peak memory of each is that of the process when it ends, the forward run first. `--check`
// compares the derivative along a random direction of the permittivities with central differences
// at steps H and H/2, extrapolated; `--curve` prints central differences at the steps given and
// nothing else.
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/design.h"
#include "tessera/electromagnetics/flux.h"
#include "tessera/electromagnetics/response.h"
#include "tessera/electromagnetics/sampled_spectrum.h"
#include "tessera/electromagnetics/time_domain.h"

#include <sys/resource.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

using namespace tessera;
using namespace tessera::electromagnetics;
using benchmarks::print_figure;

namespace {

constexpr double cell = 75e-9;  // 20 to a wavelength of the middle frequency

struct Case {
  YeeModel model;
  DesignRegion region;
  SampleList samples;
  Patch plane;
  Injection source;
  Waveform pulse;
  std::vector<double> frequencies;
  int every = 1;  ///< of the run without derivatives
};

/// A slab of free cells, a point source on one side of it and a plane on the other.
Case make(int cells, int pulse_steps, Dtype dtype) {
  YeeModel m;
  m.grid = uniform_grid({cells * cell, cells * cell, cells * cell}, cell);
  m.pml = {.cells = 10};
  m.dt_s = 0.95 * stable_time_step(m.grid);
  m.dtype = dtype;
  const int side = cells / 2, low = cells / 4, thick = std::max(1, cells / 20), middle = cells / 2;
  Case c{.model = m,
         .region = design_region(m.grid, m.faces, {low, low, middle - thick / 2},
                                 {low + side, low + side, middle - thick / 2 + thick}),
         .samples = SampleList(m.grid, m.faces),
         .plane = {},
         .source = {},
         .pulse = gaussian_pulse(2e14, 1.6e14),
         .frequencies = {}};
  const double half = 0.2 * cells * cell;
  c.plane = grid_patch(m.grid, 2, 1, 0.25 * cells * cell, {-half, -half}, {half, half});
  add_patch(c.samples, c.plane);
  const Point at{0, 0, -0.25 * cells * cell};
  c.source = current_source(m.grid, m.faces, m.dt_s, Ex, at, at, 1e-9, c.pulse);
  for (int k = 0; k < 10; ++k)
    c.frequencies.push_back(
        2e14 +
        (k - 4.5) * 2.6 / (pulse_steps * m.dt_s));  // as near as signals of so many steps allow
  const SampledSpectrum spectrum(c.pulse, m.dt_s, c.pulse.end_s);
  c.every = coarsest_sampling(c.frequencies, std::array{&spectrum}, m.dt_s).every;
  return c;
}

double run_forward(const Case& c, int steps) {
  TimeDomain run(c.model, {c.source}, c.samples.edges());
  RunningDft dft(c.frequencies, c.model.dt_s, c.samples.edges(), c.every);
  run.advance(steps, [&](const Records& r) { dft.add(r); });
  return sum(flux(c.plane, patch_fields(dft.values(c.samples), c.plane, 0))).item();
}

struct Adjoint {
  ResponsePtr r;
  YeeOpPtr op;
  Tensor currents;
  Adjoint(const Case& c, int steps, int pulse_steps) {
    YeeModel m = c.model;
    m.injected = c.source.edges;
    m.recorded = c.samples.edges();
    m.traced = c.region.edges;
    op = yee_op(std::move(m));
    r = response(op,
                 {.frequencies_hz = c.frequencies, .n_steps = steps, .pulse_steps = pulse_steps});
    // The moments of the source: its currents over the waveform at one step.
    const int n = static_cast<int>(0.5 * c.pulse.end_s / c.model.dt_s);
    std::vector<double> moments(c.source.edges.size());
    c.source.fill(n, 1, moments.data());
    for (double& w : moments) w /= c.pulse.at((n + 0.5) * c.model.dt_s);
    currents = current_spectra(r, tensor(moments), c.pulse);
  }
  Tensor objective(const Case& c, const Tensor& eps) const {
    const Tensor x = sample_values(
        c.samples, spectra(r, coefficients(op, inverse_permittivity(c.region, eps)), currents));
    return sum(flux(c.plane, patch_fields(x, c.plane, 0)));
  }
};

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  int cells = 200, steps = 2000, pulse_steps = 0, threads = 2, repeat = 1;
  double check = 0;
  std::string type = "f32", curve;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--cells")
      cells = std::atoi(argv[i + 1]);
    else if (key == "--steps")
      steps = std::atoi(argv[i + 1]);
    else if (key == "--pulse")
      pulse_steps = std::atoi(argv[i + 1]);
    else if (key == "--threads")
      threads = std::atoi(argv[i + 1]);
    else if (key == "--repeat")
      repeat = std::atoi(argv[i + 1]);
    else if (key == "--check")
      check = std::atof(argv[i + 1]);
    else if (key == "--curve")
      curve = argv[i + 1];
    else if (key == "--type")
      type = argv[i + 1];
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  if (pulse_steps == 0) pulse_steps = steps / 2;
  set_num_threads(threads);
  const Case c = make(cells, pulse_steps, type == "f64" ? Dtype::f64 : Dtype::f32);
  const Tensor eps = full({c.region.pattern->cols()}, 2.0);
  std::printf(
      "%d^3 cells, %d steps, %d threads, %lld parameters on %zu edges, %zu recorded edges, %.3g to "
      "%.3g Hz\n",
      cells, steps, threads, static_cast<long long>(eps.size()), c.region.edges.size(),
      c.samples.edges().size(), c.frequencies.front(), c.frequencies.back());
  std::fflush(stdout);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> direction(static_cast<std::size_t>(eps.size()));
  for (double& x : direction) x = normal(random);
  const Tensor v = tensor(direction);
  const auto derivative_by_difference = [&](const Adjoint& a, double h) {
    const double d =
        (a.objective(c, eps + h * v).item() - a.objective(c, eps - h * v).item()) / (2 * h);
    std::printf("step %.3g: central difference %.9e\n", h, d);
    std::fflush(stdout);
    return d;
  };
  if (!curve.empty()) {
    const Adjoint a(c, steps, pulse_steps);
    const double derivative =
        sum(grad([&](const Tensor& e) { return a.objective(c, e); })(eps) * v).item();
    std::printf(
        "derivative %.9e, left over at the end %.1e\n", derivative,
        left_over(a.r, coefficients(a.op, inverse_permittivity(c.region, eps)), a.currents));
    for (std::size_t at = 0; at < curve.size();
         at = std::min(curve.find(',', at), curve.size() - 1) + 1) {
      const double h = std::atof(curve.c_str() + at), d = derivative_by_difference(a, h);
      std::printf("  off by %.2e\n", std::abs(d / derivative - 1));
    }
    return 0;
  }
  benchmarks::Samples forward, gradient, forward_cpu, gradient_cpu;
  const auto time = [](benchmarks::Samples& wall, benchmarks::Samples& cpu, auto f) {
    const std::clock_t start = std::clock();
    wall.add(benchmarks::seconds_of(f));
    cpu.add(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  };
  // Both compile the model. All runs without derivatives come first: memory only grows in what a
  // process has used.
  for (int k = 0; k < repeat; ++k) time(forward, forward_cpu, [&] { run_forward(c, steps); });
  print_figure("adjoint_forward_seconds", forward.median(), "s");
  const double forward_mib = peak_mib();
  print_figure("adjoint_forward_peak_mib", forward_mib, "MiB");
  double derivative = 0;
  for (int k = 0; k < repeat; ++k)
    time(gradient, gradient_cpu, [&] {
      const Adjoint a(c, steps, pulse_steps);
      derivative = sum(grad([&](const Tensor& e) { return a.objective(c, e); })(eps) * v).item();
    });
  print_figure("adjoint_gradient_seconds", gradient.median(), "s");
  print_figure("adjoint_gradient_peak_mib", peak_mib(), "MiB");
  print_figure("adjoint_cost_ratio", gradient.median() / forward.median(), "x");
  print_figure("adjoint_cpu_ratio", gradient_cpu.median() / forward_cpu.median(),
               "x");  // where the machine is not idle
  print_figure("adjoint_memory_ratio", peak_mib() / forward_mib, "x");
  if (repeat > 1)
    print_figure("adjoint_cost_ratio_spread", gradient.spread() + forward.spread(), "1");
  if (check > 0) {
    const Adjoint a(c, steps, pulse_steps);
    const double whole = derivative_by_difference(a, check),
                 half = derivative_by_difference(a, check / 2), difference = (4 * half - whole) / 3;
    std::printf("derivative %.9e, extrapolated difference %.9e\n", derivative, difference);
    print_figure("adjoint_derivative_error", std::abs(derivative / difference - 1), "1");
  }
}
