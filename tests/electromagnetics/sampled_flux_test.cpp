// SPDX-License-Identifier: Apache-2.0
//
// Power through surfaces by the products of the scheme: what its own law of energy says of them.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/monitors.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
constexpr Faces kJoined{Boundary::periodic, Boundary::periodic}, kLayers{};
constexpr double kFrequency = 3e9, kCell = 5e-3;  // 20 cells a wavelength

/// Lines whose cells differ by a fifth, of this many, from 0.
std::vector<double> uneven(int cells) {
  std::vector<double> out{0};
  for (int i = 0; i < cells; ++i) out.push_back(out.back() + kCell * (1 + 0.1 * std::sin(1.7 * i)));
  return out;
}

/// A run with one current until its fields have gone, and what it leaves at samples.
struct Radiated {
  double bandwidth_hz;
  YeeModel model;
  Injection source;
  SampleList samples;
  std::vector<SampledFlux> through{};
  std::vector<double> power{};  ///< of `through`
  double emitted = 0;

  Radiated(YeeModel m, int component, const Point& at, std::array<bool, 6> active = all_six,
           double bandwidth = 2e9)
      : bandwidth_hz(bandwidth),
        model(std::move(m)),
        source(current_source(model.grid, model.faces, model.dt_s, component, at, at, 1.0, pulse(),
                              {}, model.open)),
        samples(model.grid, model.faces, active, nullptr, model.bloch_phase),
        component_(component),
        at_(at) {
    model.active = active;
  }
  void plane(int axis, double position, const std::array<double, 2>& low,
             const std::array<double, 2>& high) {
    through.push_back(
        sampled_flux(samples, {grid_patch(model.grid, axis, 1, position, low, high)}));
  }
  void box(const Point& low, const Point& high) {
    through.push_back(sampled_flux(samples, grid_box(model.grid, low, high)));
  }
  void run(int steps) {
    const std::int64_t own = samples.add(component_, at_);
    TimeDomain run(model, {source}, samples.edges());
    RunningDft dft({kFrequency}, model.dt_s, samples.edges());
    run.advance(steps, [&](const Records& r) { dft.add(r); });
    const Tensor values = dft.values(samples);
    for (const SampledFlux& f : through) power.push_back(f.power(values).item());
    const c128 current = spectrum(pulse(), std::vector<double>{kFrequency}, model.dt_s, steps,
                                  is_electric(component_) ? 0.5 : 0.0)[0];
    const c128 field = values.to_vector<c128>()[static_cast<std::size_t>(own)];
    emitted = -0.5 * (field * std::conj(current)).real();
    EXPECT_LT(run.energy_j(), 1e-14 * emitted * bandwidth_hz);
  }
  static constexpr std::array<bool, 6> all_six{true, true, true, true, true, true};
  Waveform pulse() const { return gaussian_pulse(kFrequency, bandwidth_hz); }

 private:
  int component_;
  Point at_;
};

/// Rows of a grating: a period of y, a bar in the middle of x, waves that leave along x.
YeeModel grating(bool uneven_period, double phase) {
  YeeGrid grid;
  for (int i = 0; i <= 90; ++i) grid.lines[0].push_back(i * kCell);
  grid.lines[1] = uneven(12);
  if (!uneven_period)
    for (int j = 0; j <= 12; ++j) grid.lines[1][static_cast<std::size_t>(j)] = j * kCell;
  grid.lines[2] = {-kCell / 2, kCell / 2};
  std::vector<Medium> media(2);
  media[1].eps.fill(3), media[1].mu.fill(1.2);
  Scene scene;
  scene.structures = {
      {box({40.3 * kCell, 3 * kCell, -INFINITY}, {44 * kCell, 8.4 * kCell, INFINITY}), 1}};
  YeeModel m = yee_model(grid, {kLayers, kJoined, kJoined}, {.cells = 12},
                         0.9 * stable_time_step(grid), Dtype::f64, scene, media);
  m.bloch_phase = {0, phase, 0};
  return m;
}

TEST(SampledFlux, IsTheSameThroughAllPlanesOfALosslessGrating) {
  for (const bool electric : {true, false})
    for (const double phase : {0.0, 0.7}) {
      const int component = electric ? Ez : Hz;
      const std::array<bool, 6> active = electric
                                             ? std::array{false, false, true, true, true, false}
                                             : std::array{true, true, false, false, false, true};
      YeeModel m = grating(phase != 0, phase);
      const double y = electric ? m.grid.lines[1][4] : m.grid.middle(1, 4);
      // Narrow: at a grating's cut-off, 5 GHz, waves do not leave.
      Radiated r(std::move(m), component, {20 * kCell + (electric ? 0 : kCell / 2), y, 0}, active,
                 0.8e9);
      const double end = r.model.grid.lines[1].back();
      for (const double x : {25.0, 25.25, 37.5, 41.1, 42.77, 43.5, 60.0, 66.3})
        r.plane(0, x * kCell, {0, 0}, {end, 0});
      r.plane(0, 15 * kCell, {0, 0}, {end, 0});
      // Both halves of one, cut anywhere; and the seam from both of its sides.
      r.plane(0, 60 * kCell, {0, 0}, {0.37 * end, 0});
      r.plane(0, 60 * kCell, {0.37 * end, 0}, {end, 0});
      r.plane(1, 0, {22 * kCell, 0}, {60 * kCell, 0});
      r.plane(1, end, {22 * kCell, 0}, {60 * kCell, 0});
      r.box({14.2 * kCell, -INFINITY, 0}, {70.8 * kCell, INFINITY, 0});
      r.run(12000);
      const double through = r.power[0];
      EXPECT_GT(through, 0);
      for (std::size_t k = 1; k < 8; ++k) EXPECT_NEAR(r.power[k] / through, 1, 1e-7) << k;
      // What goes to both sides is what the source gives: R + T = 1.
      EXPECT_NEAR((r.power[0] - r.power[8]) / r.emitted, 1, 1e-7);
      EXPECT_NEAR((r.power[9] + r.power[10]) / r.power[6], 1, 1e-12);
      EXPECT_NEAR(r.power[11], r.power[12], 1e-12 * through);
    }
}

TEST(SampledFlux, OutOfABoxOfAnyPlaceIsWhatItsSourceGives) {
  YeeGrid grid;
  for (auto& lines : grid.lines) lines = uneven(25);
  std::vector<Medium> media(2);
  media[1].eps.fill(2.5);
  Scene scene;
  scene.structures = {{sphere({13 * kCell, 11 * kCell, 12 * kCell}, 2.6 * kCell), 1}};
  for (const int component : {Ex, Hy}) {
    YeeModel m = yee_model(grid, {kLayers, kLayers, kLayers}, {.cells = 6},
                           0.9 * stable_time_step(grid), Dtype::f64, scene, media,
                           Averaging::volume);  // no tensors, which couple E of several edges
    Point at;
    for (int d = 0; d < 3; ++d)
      at[static_cast<std::size_t>(d)] = at_middle(component, d)
                                            ? grid.middle(d, 11)
                                            : grid.lines[static_cast<std::size_t>(d)][11];
    Radiated r(std::move(m), component, at);
    r.box({8 * kCell, 8 * kCell, 8 * kCell}, {16 * kCell, 16 * kCell, 16 * kCell});
    r.box({8.3 * kCell, 7.1 * kCell, 9.6 * kCell}, {16.9 * kCell, 12.45 * kCell, 17.2 * kCell});
    r.box({at[0] - kCell, at[1] - kCell, at[2] - kCell},
          {at[0] + kCell, at[1] + kCell, at[2] + kCell});
    r.box({14 * kCell, 14 * kCell, 14 * kCell},
          {17.4 * kCell, 16.1 * kCell, 17 * kCell});  // beside
    r.run(1500);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(r.power[k] / r.emitted, 1, 1e-7) << k;
    EXPECT_NEAR(r.power[3] / r.emitted, 0, 1e-7);
  }
}

// Metal that the faces of a box cut, conformal, loses nothing; nor do poles without damping.
TEST(SampledFlux, OutOfABoxThatCutsMetalAndDispersiveBodies) {
  for (const int component : {Ez, Hz}) {
    YeeGrid grid;
    grid.lines[0] = uneven(48), grid.lines[1] = uneven(44), grid.lines[2] = {0, 2 * kCell};
    std::vector<Medium> media(3);
    media[1].pec = true;
    media[2].poles = lorentz(7e9, 0, 0.8);
    Scene scene;
    scene.structures = {
        {cylinder({30.2 * kCell, 24.7 * kCell, 0}, 5.3 * kCell, INFINITY), 1},
        {box({-INFINITY, 28 * kCell, -INFINITY}, {25 * kCell, 33 * kCell, INFINITY}), 2}};
    const std::array<Faces, 3> faces{kLayers, kLayers, kJoined};
    const double dt = 0.5 * stable_time_step(grid);
    YeeModel m =
        yee_model(grid, faces, {.cells = 8}, dt, Dtype::f64, scene, media, Averaging::volume,
                  cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt));
    const Point at = component == Ez ? Point{grid.lines[0][20], grid.lines[1][22], kCell}
                                     : Point{grid.middle(0, 20), grid.middle(1, 22), kCell};
    Radiated r(std::move(m), component, at,
               component == Ez ? std::array{false, false, true, true, true, false}
                               : std::array{true, true, false, false, false, true});
    r.box({11.3 * kCell, 11 * kCell, 0}, {37.4 * kCell, 35 * kCell, 0});
    r.box({14.3 * kCell, 17.5 * kCell, 0}, {30.1 * kCell, 30.2 * kCell, 0});
    r.box({27.3 * kCell, 26.5 * kCell, 0}, {37.1 * kCell, 31.2 * kCell, 0});  // beside
    r.run(9000);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(r.power[k] / r.emitted, 1, 1e-7) << k;
    EXPECT_NEAR(r.power[2] / r.emitted, 0, 1e-7);
  }
}

// An image is what is computed: of half a domain, behind a mirror, all is half of the whole.
TEST(SampledFlux, BesideAMirrorIsHalfOfTheWhole) {
  std::vector<double> whole, half;
  for (const bool cut : {false, true}) {
    YeeGrid grid;
    for (int i = cut ? 0 : -30; i <= 30; ++i) grid.lines[0].push_back(i * kCell);
    for (int j = -30; j <= 30; ++j) grid.lines[1].push_back(j * kCell);
    grid.lines[2] = {-kCell / 2, kCell / 2};
    const Faces x{cut ? Boundary::pmc : Boundary::pml, Boundary::pml};
    YeeModel m = yee_model(grid, {x, kLayers, kJoined}, {.cells = 10}, 0.9 * stable_time_step(grid),
                           Dtype::f64, {}, {Medium{}});
    Radiated r(std::move(m), Ez, {0, 2 * kCell, 0}, {false, false, true, true, true, false});
    const double low = cut ? 0 : -12.2 * kCell;
    r.plane(1, 8.3 * kCell, {low, 0}, {12.2 * kCell, 0});
    r.plane(1, -7 * kCell, {low, 0}, {12.2 * kCell, 0});
    r.plane(0, 12.2 * kCell, {-7 * kCell, 0}, {8.3 * kCell, 0});
    r.run(3000);
    // The source on the mirror is half of it; in the grid that is the same current in half of the
    // cells, twice the field.
    (cut ? half : whole) = r.power;
    if (cut) {
      EXPECT_NEAR((r.power[0] - r.power[1] + r.power[2]) / r.emitted, 1, 1e-7);
    }
  }
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_NEAR(half[k] / half[2], whole[k] / 2 / whole[2], 1e-7) << k;
}

TEST(SampledFlux, Differentiates) {
  const YeeGrid grid = uniform_grid({6 * kCell, 5 * kCell, 4 * kCell}, kCell);
  SampleList samples(grid, {kLayers, kJoined, kLayers});
  const SampledFlux f = sampled_flux(
      samples, {grid_patch(grid, 1, -1, 0.3 * kCell, {-kCell, -kCell}, {1.2 * kCell, kCell})});
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const auto any = [&] {
    std::vector<c128> x;
    for (std::int64_t k = 0; k < 2 * samples.size(); ++k)
      x.emplace_back(normal(random), normal(random));
    return tensor(x, {2, static_cast<Index>(samples.size())});
  };
  const Tensor x = any(), dx = any();
  const auto power = [&](const Tensor& v) { return f.power(v); };
  const auto [value, moved] = jvp(power, x, dx);
  const double h = 1e-4;
  for (Index k = 0; k < 2; ++k) {
    const double central = (power(x + dx * h).to_vector()[static_cast<std::size_t>(k)] -
                            power(x - dx * h).to_vector()[static_cast<std::size_t>(k)]) /
                           (2 * h);
    EXPECT_NEAR(
        moved.to_vector()[static_cast<std::size_t>(k)], central,
        1e-7 * std::abs(value.to_vector()[static_cast<std::size_t>(k)]) + 1e-7 * std::abs(central));
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
