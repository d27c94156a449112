// SPDX-License-Identifier: Apache-2.0
//
// Laws of physics on small grids: resonances of a box, reflection of layers, power balances.
#include "tessera/electromagnetics/time_domain.h"

#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/flux.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;

TEST(TimeDomain, BoxRingsAtTheFrequenciesOfTheScheme) {
  // A box of 9 x 5 x 11 cells: sin(w dt/2) = c dt sqrt(sum (sin(pi q/2n)/d)^2), the exact
  // dispersion relation of the scheme.
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
                 {current_source(grid, {pec, pec, pec}, dt, Ey, {6e-3, 5e-3, 8e-3},
                                 {6e-3, 5e-3, 8e-3}, 1e-3, gaussian_pulse(13e9, 16e9))},
                 samples.edges());
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  std::vector<double> signal;
  run.advance(4000, [&](const Records& r) {
    for (std::int64_t s = 0; s < r.n_steps; ++s)
      signal.push_back(samples.value(0, r.step(s).data()));
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
  // Between joined faces of a 6 x 4 cell lattice with phase k.a live the waves k + G alone: the
  // lowest frequencies by the dispersion relation of the scheme, sin(w dt/2) = c dt sqrt(sum
  // (sin((k + G) d/2)/d)^2).
  const double d = 1e-3;
  const YeeGrid grid = uniform_grid({6e-3, 4e-3, 0}, d);
  const std::array<Faces, 3> faces{joined, joined, joined};
  const Point k{0.9 / 6e-3, -1.7 / 4e-3, 0};
  const double dt = 0.9 * stable_time_step(grid);
  SampleList samples(grid, faces);
  samples.add(Ez, {0, 0, 0});
  YeeModel model = yee_model(grid, faces, {}, dt, Dtype::f64, {}, {Medium{}});
  model.bloch_phase = {0.9, -1.7, 0};
  TimeDomain run(std::move(model),
                 {current_source(grid, faces, dt, Ez, {0, 0, 0}, {0, 0, 0}, 1.0,
                                 gaussian_pulse(30e9, 40e9), k)},
                 samples.edges());
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  std::vector<std::complex<double>> signal;
  run.advance(3000, [&](const Records& r) {
    const auto edges = static_cast<std::int64_t>(r.n_columns);
    for (std::int64_t s = 0; s < r.n_steps; ++s)
      signal.push_back(
          {samples.value(0, r.step(s).data()), samples.value(0, r.imaginary + s * edges)});
  });
  const auto modes =
      harmonic_inversion(std::span<const std::complex<double>>(signal), dt, 10e9, 60e9);
  const auto frequency = [&](int g, int h) {
    const double x = k[0] + 2 * pi * g / 6e-3, y = k[1] + 2 * pi * h / 4e-3;
    return std::asin(speed_of_light * dt *
                     std::hypot(std::sin(x * d / 2) / d, std::sin(y * d / 2) / d)) /
           (pi * dt);
  };
  for (const double f : {frequency(0, 0), frequency(-1, 0), frequency(0, 1)}) {
    double best = 1;
    for (const auto& m : modes) best = std::min(best, std::abs(m.frequency_hz / f - 1));
    EXPECT_LT(best, 1e-9) << f;
  }
}

/// Half a period of phase from cell to cell: currents of alternating sign, wherever they are
/// between the lines or across the seam.
TEST(TimeDomain, APointBetweenBlochFacesIsARowOfPoints) {
  const double d = 1e-3, period = 4e-3, dt = 0.6 * d / speed_of_light;
  const Waveform pulse = gaussian_pulse(30e9, 40e9);
  const std::array<Faces, 3> faces{pec, joined, joined};
  for (const int component : {Ez, Ey})
    for (const double y : {0.2e-3, 1.3e-3, 3.8e-3}) {
      const auto run = [&](int periods) {
        const YeeGrid grid =
            uniform_grid({8e-3, periods * period, 0}, d, {0, periods * period / 2, 0});
        YeeModel model = yee_model(grid, faces, {}, dt, Dtype::f64, {}, {Medium{}});
        Point k{};
        if (periods == 1) k[1] = pi / period, model.bloch_phase = {0, pi, 0};
        std::vector<Injection> sources;
        for (int p = 0; p < periods; ++p) {
          const Point at{0.7e-3, y + p * period, 0};
          sources.push_back(
              current_source(grid, faces, dt, component, at, at, p == 0 ? 1 : -1, pulse, k));
        }
        TimeDomain out(std::move(model), std::move(sources), {});
        out.advance(200);
        return out;
      };
      const TimeDomain one = run(1), two = run(2);
      const double largest = two.peak().value;
      EXPECT_GT(largest, 0);
      for (int j = 0; j < 4; ++j)
        for (int i = 1; i < 8; ++i) {
          const Edge e{static_cast<std::uint8_t>(component), i, j, 0};
          EXPECT_NEAR(one.unknown(e), two.unknown(e), 1e-11 * largest) << y << ' ' << i << ' ' << j;
        }
    }
}

/// Hx lies on the lines across x. Between joined faces the first and the last are one: half of its
/// cell is at either end of the domain, and it carries no more than any other.
TEST(TimeDomain, AMagneticCurrentAlongAPeriodIsTheSameOnEachOfItsEdges) {
  YeeGrid grid = uniform_grid({6e-3, 4e-3, 0}, 1e-3);
  grid.lines[0] = {0, 1e-3, 3e-3, 4e-3, 4.5e-3, 6e-3};
  const std::array<Faces, 3> faces{joined, joined, joined};
  const auto currents = [&](double from, double to) {
    const Waveform one{.at = [](double) { return 1.0; }, .end_s = 1};
    const Injection source =
        current_source(grid, faces, 1e-12, Hx, {from, 0.5e-3, 0}, {to, 0.5e-3, 0}, 1, one);
    std::vector<double> all(source.edges.size()), by_line(5, 0.0);
    source.fill(0, 1, all.data());
    for (std::size_t m = 0; m < all.size(); ++m)
      by_line.at(static_cast<std::size_t>(source.edges[m].i)) += all[m];
    return by_line;
  };
  const std::vector<double> whole = currents(0, 6e-3);
  for (const double current : whole) EXPECT_NEAR(current / whole[1], 1, 1e-12);
  for (const auto& [from, to] : {std::pair{0.0, 2.2e-3}, {3.1e-3, 6e-3}, {0.0, 6e-3}}) {
    const std::vector<double> part = currents(from, to);
    double sum = 0;
    for (int i = 0; i < 5; ++i)
      sum += part[static_cast<std::size_t>(i)] / whole[1] * grid.dual_length(0, i, true);
    EXPECT_NEAR(sum / (to - from), 1, 1e-12);
  }
}

/// A source ends at its step, not with the block of steps that this lies in: a run that is gone on
/// with is one that was never interrupted.
TEST(TimeDomain, FieldsDoNotDependOnHowStepsAreDivided) {
  const YeeGrid grid = uniform_grid({12e-3, 9e-3, 0}, 1e-3);
  const std::array<Faces, 3> faces{pec, pec, joined};
  const double dt = 0.9 * stable_time_step(grid);
  const auto state = [&](const std::vector<std::int64_t>& pieces) {
    const Waveform one{.at = [](double) { return 1.0; }, .end_s = 20.5 * dt};
    TimeDomain run(yee_model(grid, faces, {}, dt, Dtype::f64, {}, {Medium{}}),
                   {current_source(grid, faces, dt, Ez, {4e-3, 4e-3, 0}, {4e-3, 4e-3, 0}, 1, one)},
                   {});
    for (const std::int64_t n : pieces) run.advance(n);
    std::vector<TimeDomain::Slice> all;
    for (int at = 0; at < run.slice_count(); ++at) run.copy_slice(at, all.emplace_back());
    return all;
  };
  const std::vector<TimeDomain::Slice> whole = state({40});
  EXPECT_EQ(state({21, 19}), whole);
  EXPECT_EQ(state({13, 8, 1, 18}), whole);
}

TEST(TimeDomain, DispersiveSlabsFromFaceToFaceStayQuiet) {
  // A metal and a resonant slab across all layers and up to the outer conductors along x: after the
  // source the energy only falls.
  const YeeGrid grid = uniform_grid({3e-6, 3e-6, 3e-6}, 0.15e-6);
  const std::array<Faces, 3> faces{};
  std::vector<Medium> media(3);
  media[1].poles = drude(300e12, 15e12);
  media[2].poles = lorentz(200e12, 4e12, 0.5);
  Scene scene;
  scene.structures = {{box({-INFINITY, -INFINITY, -1e-6}, {INFINITY, INFINITY, -0.5e-6}), 1},
                      {box({-INFINITY, -INFINITY, 0.4e-6}, {INFINITY, INFINITY, 0.9e-6}), 2}};
  const double dt = 0.95 * stable_time_step(grid);
  TimeDomain run(
      yee_model(grid, faces, {.cells = 5}, dt, Dtype::f32, scene, media),
      {current_source(grid, faces, dt, Ex, {}, {}, 1e-15, gaussian_pulse(150e12, 150e12))}, {});
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
  const double before = run.energy_j();
  run.advance(600);
  EXPECT_GT(before, 0);
  EXPECT_LT(run.energy_j(), 0.5 * before);
}

TEST(TimeDomain, ThirdHarmonicOfAPulse) {
  // A pulse of 1/3 c per metre through 97 m of chi3 = 0.01 m^2/V^2, from a sheet of 1/Z0 A/m, so of
  // 0.5 V/m. An independent code finds transformed fluxes of 221.895 at the fundamental and 1.75296
  // at the third harmonic, in units with c = Z0 = 1.
  const double c = speed_of_light, f0 = c / 3, w = 60 / c;
  const YeeGrid grid = uniform_grid({100, 0, 0}, 0.05);
  const std::array<Faces, 3> faces{};
  Medium kerr{.name = "kerr"};
  kerr.chi3 = 0.01;
  const double dt = 0.5 * 0.05 / c,
               bandwidth = 2 * std::sqrt(std::log(10.0)) / (pi * std::sqrt(2.0) * w);
  const std::array<bool, 6> active{false, false, true, false, true, false};
  SampleList samples(grid, faces, active);
  const Patch plane = grid_patch(grid, 0, 1, 48.5, {0, 0}, {0, 0});
  add_patch(samples, plane);
  const Waveform pulse = gaussian_pulse(f0, bandwidth);
  YeeModel model = yee_model(grid, faces, {.cells = 20}, dt, Dtype::f64, {}, {kerr});
  model.active = active;
  TimeDomain run(
      std::move(model),
      {current_source(grid, faces, dt, Ez, {-49, 0, 0}, {-49, 0, 0}, 1 / vacuum_impedance, pulse)},
      samples.edges());
  EXPECT_TRUE(run.scheme().nonlinear());
  RunningDft dft({f0, 3 * f0}, dt, samples.edges());
  run.advance(static_cast<std::int64_t>((pulse.end_s + 110 / c) / dt),
              [&](const Records& r) { dft.add(r); });
  const auto found = flux(plane, patch_fields(dft.values(samples), plane, 0)).to_vector<double>();
  const double unit =
      2 * vacuum_impedance * c * c / (2 * pi);  // no 1/2, transforms with 1/sqrt(2 pi), time in m/c
  EXPECT_NEAR(found[0] * unit / 221.895, 1, 0.01);
  EXPECT_NEAR(found[1] * unit / 1.75296, 1, 0.02);
}

TEST(TimeDomain, LineSourceInLayersGivesItsPower) {
  // A line current of 1 A in 2-D vacuum radiates w mu0 |I|^2 / 8 per metre; the flux through a box
  // is that power, for 20 cells a wavelength to the second-order error of the scheme, (k d)^2 / 24
  // = 0.4 % and the averages' 2 (k d)^2 / 8.
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
    TimeDomain run(std::move(model),
                   {current_source(grid, faces, dt, Ez, {0, 0, 0}, {0, 0, 0}, 1.0, w)},
                   samples.edges());
    RunningDft dft({f0}, dt, samples.edges());
    const auto steps = static_cast<std::int64_t>((w.end_s + 3e-9) / dt);
    run.advance(steps, [&](const Records& r) { dft.add(r); });
    const Tensor values = dft.values(samples);
    std::vector<SurfaceFields> fields;
    for (std::size_t p = 0; p < box.size(); ++p)
      fields.push_back(patch_fields(values, box[p], first[p]));
    const double power = flux(box, fields).item();
    const double current = std::abs(spectrum(w, f0)),
                 want = 2 * pi * f0 * vacuum_permeability * current * current / 8;
    EXPECT_NEAR(power / want, 1, 0.03) << power << " " << want;
    EXPECT_LT(run.energy_j(), 1e-6 * want);
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
