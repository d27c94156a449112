// SPDX-License-Identifier: Apache-2.0
// What sources put in is what a closed box without loss stores, and no proper run is taken for one
// that grows while its sources last.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/energy_watch.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

struct WorkCase {
  int dimensions = 2;
  std::array<bool, 6> active{false, false, true, true, true, false};
  int component = Ez;
  Dtype dtype = Dtype::f64;
  double sigma = 0, bloch = 0, uneven = 0.15;
  Faces boundary = pec;
  Point low{-3 * cell, -2 * cell, -cell}, high{2 * cell, 2 * cell, cell};
};

TimeDomain filled_box(const WorkCase& c, const Waveform& w) {
  YeeGrid grid;
  for (std::size_t d = 0; d < 3; ++d) {
    const int n = static_cast<int>(d) < c.dimensions ? 24 + static_cast<int>(d) : 1;
    for (int i = 0; i <= n; ++i)  // uneven
      grid.lines[d].push_back((i - n / 2 + c.uneven * std::sin(0.9 * i)) * cell);
    if (n == 1) grid.lines[d] = {-0.5 * cell, 0.5 * cell};
  }
  std::array<Faces, 3> faces{pec, joined, joined};
  for (std::size_t d = 0; d < static_cast<std::size_t>(c.dimensions); ++d) faces[d] = c.boundary;
  if (c.bloch != 0) faces[0] = joined;
  Medium m{.name = "m"};
  m.eps = {2, 2, 2}, m.mu = {1.5, 1.5, 1.5}, m.sigma = {c.sigma, c.sigma, c.sigma};
  const double dt = 0.9 * stable_time_step(grid);
  YeeModel model = yee_model(grid, faces, {.cells = 8}, dt, c.dtype, {}, {m});
  model.active = c.active;
  const Point k{c.bloch, 0, 0};
  model.bloch_phase = {c.bloch * (grid.lines[0].back() - grid.lines[0].front()), 0, 0};
  return {
      std::move(model), {current_source(grid, faces, dt, c.component, c.low, c.high, 3, w, k)}, {}};
}

TEST(SourceWork, IsWhatAClosedBoxStores) {
  const std::array<bool, 6> all{true, true, true, true, true, true};
  const std::array<bool, 6> hz{true, true, false, false, false, true};
  const WorkCase cases[] = {
      {},
      {.component = Hx},
      {.active = hz, .component = Ey},
      {.active = hz, .component = Hz},
      {.dtype = Dtype::f32},
      {.bloch = 30},
      {.dimensions = 1, .active = {false, true, true, false, true, true}},
      {.dimensions = 3, .active = all, .component = Ex},
      {.dimensions = 3, .active = all, .component = Hy, .low = {}, .high = {}}};
  for (const WorkCase& c : cases) {
    TimeDomain run = filled_box(c, gaussian_pulse(1.2e9, 1e9));
    EXPECT_EQ(run.given_j(), 0);
    double in = 0, stored = 0;
    for (int k = 0; k < 40; ++k) run.advance(33), in = std::max(in, run.given_j());
    ASSERT_GT(run.time_s(), run.sources_end_s());
    for (int k = 0; k < 20; ++k) run.advance(7), stored += run.stored_energy_j() / 20;
    EXPECT_GT(stored, 0);
    EXPECT_NEAR(run.given_j() / stored, 1, 0.02) << c.dimensions << ' ' << c.component;
  }
}

/// Looks each 100 steps; the step at which it is said to grow, 0: never.
std::int64_t grows_at(TimeDomain run, int looks) {
  EnergyWatch watch;
  for (int k = 0; k < looks; ++k) {
    run.advance(100);
    if (watch.grows(run)) return run.step();
  }
  return 0;
}

/// At the lowest resonance of the scheme the field rises in proportion to time.
TEST(SourceWork, AResonanceThatFillsIsNoGrowth) {
  const WorkCase even{.uneven = 0};
  const double dt = filled_box(even, continuous_wave(1e9, 1e-9)).dt_s(), half_pi = two_pi / 4;
  const double squares = std::pow(std::sin(half_pi / 24), 2) + std::pow(std::sin(half_pi / 25), 2);
  const double sine = speed_of_light * dt / cell * std::sqrt(squares / 3),  // eps mu = 3
      f = std::asin(sine) / (half_pi * 2) / dt;
  const Waveform w = continuous_wave(f, 2 / f);
  TimeDomain once = filled_box(even, w), twice = filled_box(even, w);
  once.advance(5000), twice.advance(10000);
  EXPECT_NEAR(twice.energy_j() / once.energy_j(), 4, 0.3);
  for (const Dtype t : {Dtype::f64, Dtype::f32})
    EXPECT_EQ(grows_at(filled_box({.dtype = t, .uneven = 0}, w), 200), 0);
  EXPECT_EQ(grows_at(filled_box({.sigma = 1e-4, .uneven = 0}, w), 100), 0);
  EXPECT_EQ(grows_at(filled_box({.boundary = pml}, w), 100), 0);
  EXPECT_EQ(grows_at(filled_box({.boundary = pml}, continuous_wave(0.2e9, 5e-9)), 100), 0);
}

TEST(SourceWork, ASecondPulseIsNoGrowthWhateverTheFirst) {
  const Waveform w = gaussian_pulse(1.2e9, 1e9);
  for (const Faces& b : {pec, pml})
    for (const double times : {1e-9, 1e-3, 1.0, 1e3, 1e9}) {
      const Dtype t = times == 1e-3 || times == 1e3 ? Dtype::f32 : Dtype::f64;
      EXPECT_EQ(
          grows_at(filled_box({.dtype = t, .boundary = b}, w + times * delayed(w, 40e-9)), 60), 0)
          << times;
    }
}

TEST(SourceWork, GrowthIsSeenWhateverTheSources) {
  const Waveform w = gaussian_pulse(1.2e9, 1e9);
  const Waveform zeros{.at = w.at, .end_s = 1};
  for (const Waveform& x : {continuous_wave(1.2e9, 2e-9), w + delayed(w, 1e-6), zeros, w}) {
    const std::int64_t at = grows_at(filled_box({.sigma = -0.006}, x), 100);
    EXPECT_GT(at, 0);
    EXPECT_LT(at, 4000);
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
