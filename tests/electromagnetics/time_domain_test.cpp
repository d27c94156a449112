// SPDX-License-Identifier: Apache-2.0
//
// Laws of physics on small grids: resonances of a box, reflection of layers, power balances.
#include "tessera/electromagnetics/time_domain.h"

#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/flux.h"
#include "tessera/electromagnetics/harmonic_inversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Faces pec{Boundary::pec, Boundary::pec}, joined{Boundary::periodic, Boundary::periodic};

TEST(TimeDomain, BoxRingsAtTheFrequenciesOfTheScheme) {
  // A box of 9 x 5 x 11 cells: sin(w dt/2) = c dt sqrt(sum (sin(pi q/2n)/d)^2), the exact dispersion relation of the scheme.
  YeeGrid grid;
  const int n[3] = {9, 5, 11};
  const double d[3] = {2e-3, 2e-3, 2e-3};
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i <= n[a]; ++i) grid.lines[a].push_back(i * d[a]);
  const double dt = 0.99 * stable_time_step(grid);
  Scene scene;
  SampleList samples(grid, {pec, pec, pec});
  samples.add(Ey, {4e-3, 5e-3, 6e-3});
  TimeDomain run(yee_model(grid, {pec, pec, pec}, {}, dt, Dtype::f64, scene, {Medium{}}),
                 {current_source(grid, {pec, pec, pec}, dt, Ey, {6e-3, 5e-3, 8e-3}, {6e-3, 5e-3, 8e-3}, 1e-3, gaussian_pulse(13e9, 16e9))}, samples.edges());
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  std::vector<double> signal;
  run.advance(4000, [&](const Records& r) {
    for (std::int64_t s = 0; s < r.n_steps; ++s) signal.push_back(samples.value(0, r.step(s).data()));
  });
  const auto frequency = [&](int p, int q, int m) {
    const int mode[3] = {p, q, m};
    double sum = 0;
    for (int a = 0; a < 3; ++a) sum += std::pow(std::sin(pi * mode[a] / (2.0 * n[a])) / d[a], 2);
    return std::asin(speed_of_light * dt * std::sqrt(sum)) / (pi * dt);
  };
  const auto modes = harmonic_inversion(std::span<const double>(signal), dt, 9e9, 19e9);
  for (const double f : {frequency(1, 0, 1), frequency(1, 0, 2), frequency(2, 0, 1)}) {
    double best = 1;
    for (const auto& m : modes)
      if (std::abs(m.amplitude) > 1e-6) best = std::min(best, std::abs(m.frequency_hz / f - 1));
    EXPECT_LT(best, 1e-9) << f;
  }
}

TEST(TimeDomain, FacesJoinedWithAPhaseHoldBlochWaves) {
  // Between joined faces of a 6 x 4 cell lattice with phase k.a live the waves k + G alone: the lowest frequencies by the dispersion
  // relation of the scheme, sin(w dt/2) = c dt sqrt(sum (sin((k + G) d/2)/d)^2).
  const double d = 1e-3;
  const YeeGrid grid = uniform_grid({6e-3, 4e-3, 0}, d);
  const std::array<Faces, 3> faces{joined, joined, joined};
  const Point k{0.9 / 6e-3, -1.7 / 4e-3, 0};
  const double dt = 0.9 * stable_time_step(grid);
  SampleList samples(grid, faces);
  samples.add(Ez, {0, 0, 0});
  YeeModel model = yee_model(grid, faces, {}, dt, Dtype::f64, {}, {Medium{}});
  model.bloch_phase = {0.9, -1.7, 0};
  TimeDomain run(std::move(model), {current_source(grid, faces, dt, Ez, {0, 0, 0}, {0, 0, 0}, 1.0, gaussian_pulse(30e9, 40e9), k)}, samples.edges());
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  std::vector<std::complex<double>> signal;
  run.advance(3000, [&](const Records& r) {
    const auto edges = static_cast<std::int64_t>(r.n_columns);
    for (std::int64_t s = 0; s < r.n_steps; ++s)
      signal.push_back({samples.value(0, r.step(s).data()), samples.value(0, r.imaginary + s * edges)});
  });
  const auto modes = harmonic_inversion(std::span<const std::complex<double>>(signal), dt, 10e9, 60e9);
  const auto frequency = [&](int g, int h) {
    const double x = k[0] + 2 * pi * g / 6e-3, y = k[1] + 2 * pi * h / 4e-3;
    return std::asin(speed_of_light * dt * std::hypot(std::sin(x * d / 2) / d, std::sin(y * d / 2) / d)) / (pi * dt);
  };
  for (const double f : {frequency(0, 0), frequency(-1, 0), frequency(0, 1)}) {
    double best = 1;
    for (const auto& m : modes) best = std::min(best, std::abs(m.frequency_hz / f - 1));
    EXPECT_LT(best, 1e-9) << f;
  }
}

TEST(TimeDomain, LineSourceInLayersGivesItsPower) {
  // A line current of 1 A in 2-D vacuum radiates w mu0 |I|^2 / 8 per metre; the flux through a box is that power, for 20 cells a
  // wavelength to the second-order error of the scheme, (k d)^2 / 24 = 0.4 % and the averages' 2 (k d)^2 / 8.
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    const double cell = 5e-3, f0 = 3e9;
    const YeeGrid grid = uniform_grid({0.4, 0.4, 0}, cell);
    const std::array<Faces, 3> faces{};
    const double dt = 0.95 * stable_time_step(grid);
    SampleList samples(grid, faces);
    const auto box = grid_box(grid, {-0.1, -0.1, 0}, {0.1, 0.1, 0});
    std::vector<std::int64_t> first;
    for (const Patch& p : box) first.push_back(add_patch(samples, p));
    const Waveform w = gaussian_pulse(f0, 2e9);
    YeeModel model = yee_model(grid, faces, {}, dt, dtype, {}, {Medium{}});
    TimeDomain run(std::move(model), {current_source(grid, faces, dt, Ez, {0, 0, 0}, {0, 0, 0}, 1.0, w)}, samples.edges());
    RunningDft dft({f0}, dt, samples.edges());
    const auto steps = static_cast<std::int64_t>((w.end_s + 3e-9) / dt);
    run.advance(steps, [&](const Records& r) { dft.add(r); });
    const Tensor values = dft.values(samples);
    std::vector<SurfaceFields> fields;
    for (std::size_t p = 0; p < box.size(); ++p) fields.push_back(patch_fields(values, box[p], first[p]));
    const double power = flux(box, fields).item();
    const double current = std::abs(spectrum(w, f0)), want = 2 * pi * f0 * vacuum_permeability * current * current / 8;
    EXPECT_NEAR(power / want, 1, 0.03) << power << " " << want;
    EXPECT_LT(run.energy_j(), 1e-6 * want);
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
