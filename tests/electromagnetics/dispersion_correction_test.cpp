// SPDX-License-Identifier: Apache-2.0
//
// Frequencies of the modes of closed boxes, which are c |k| / n, from three steps of the scheme: a
// mode obeys e'' + e = 2 cos(w dt) e'.
#include "tessera/electromagnetics/dispersion_correction.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_stability.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;

/// Relative error of the frequency of Ez = sin(m pi x / a) sin(n pi y / a) in a box of conductors,
/// a = 1 m; n = 0: a line along x.
double mode_error(const Medium& exact, int cells, int m, int n, bool corrected) {
  const double h = 1.0 / cells, k = pi * std::hypot(m, n),
               f = speed_of_light * k / (2 * pi * std::sqrt(exact.eps[2]));
  YeeGrid grid = uniform_grid({1, n > 0 ? 1.0 : 0.0, 0}, h, {0.5, 0.5, 0});
  const double dt = 0.9 * stable_time_step(grid);
  const Medium medium = corrected ? dispersion_corrected(exact, grid, dt, f) : exact;
  const Faces closed{Boundary::pec, Boundary::pec}, joined{Boundary::periodic, Boundary::periodic};
  const YeeScheme scheme(
      yee_model(grid, {closed, n > 0 ? closed : joined, joined}, {}, dt, Dtype::f64, {}, {medium}));
  std::vector<double> state(static_cast<std::size_t>(scheme.state_size()));
  const int rows = n > 0 ? cells : 2;
  for (int j = n > 0 ? 1 : 0; j < (n > 0 ? rows : 1); ++j)
    for (int i = 1; i < cells; ++i)
      state[static_cast<std::size_t>(scheme.offset({Ez, i, j, 0}))] =
          std::sin(m * pi * i * h) * (n > 0 ? std::sin(n * pi * j * h) : 1);
  const Edge at{Ez, cells / (4 * m) + 1, n > 0 ? cells / (4 * n) + 1 : 0, 0};
  double e[3];
  for (double& x : e) {
    x = state[static_cast<std::size_t>(scheme.offset(at))];
    scheme.advance(state.data(), 1, nullptr, nullptr, nullptr, nullptr);
  }
  // h begins as zero at -dt/2, so the first three of e are of one mode too.
  return std::acos((e[0] + e[2]) / (2 * e[1])) / (2 * pi * dt * f) - 1;
}

Medium glass() {
  Medium m;
  m.name = "glass";
  m.eps = {4, 4, 4};
  return m;
}

TEST(DispersionCorrection, ModesOfALineAreExact) {
  EXPECT_LT(mode_error(glass(), 40, 4, 0, false),
            -2e-3);  // 20 cells a wavelength: (k h)^2/24 (1 - 0.2) = 3e-3
  EXPECT_NEAR(mode_error(glass(), 40, 4, 0, true), 0, 1e-10);
}

TEST(DispersionCorrection, ModesInTwoDimensionsKeepTheDifferenceBetweenDirections) {
  // (12, 5) runs at 22.6 degrees, where the speed is its mean over directions but for (k h)^4; (9,
  // 9) between the axes, faster by (k h)^2/96.
  const double kh = pi * 13 / 260;
  EXPECT_LT(mode_error(glass(), 260, 12, 5, false), -0.5e-3);
  EXPECT_NEAR(mode_error(glass(), 260, 12, 5, true), 0, 3e-6);
  EXPECT_NEAR(mode_error(glass(), 260, 9, 9, true), 81 * 2 / 169.0 * kh * kh / 96, 5e-6);
}

TEST(DispersionCorrection, ThreeDimensionsAgainstDirectionsOneByOne) {
  const YeeGrid grid = uniform_grid({1, 1, 1}, 0.1);
  const double dt = 0.95 * stable_time_step(grid), n = 1.5, f = speed_of_light / 0.1 / n / 20,
               k = 2 * pi / 2;
  Medium m;
  m.eps = {n * n, n * n, n * n};
  double mean =
      0;  // of the squares of the grid's wave numbers, by the middle points of equal areas
  const int count = 400;
  for (int a = 0; a < count; ++a)
    for (int b = 0; b < count; ++b) {
      const double z = (a + 0.5) / count, phi = pi / 2 * (b + 0.5) / count,
                   r = std::sqrt(1 - z * z);
      for (const double u : {r * std::cos(phi), r * std::sin(phi), z})
        mean += std::pow(2 / 0.1 * std::sin(k * u * 0.1 / 2), 2) / (count * count);
    }
  const double w = 2 / (speed_of_light * dt) * std::sin(pi * f * dt);
  EXPECT_NEAR(dispersion_factor(m, grid, dt, f), mean / (w * w * n * n), 1e-7);
  EXPECT_LT(dispersion_factor(m, grid, dt, f), 1 - 2e-3);
}

TEST(DispersionCorrection, PolesAndLossesScaleTogether) {
  const YeeGrid grid = uniform_grid({1e-6, 1e-6, 0}, 20e-9);
  const double dt = 0.9 * stable_time_step(grid), f = 2e14;
  Medium m = glass();
  m.poles = lorentz(6e14, 1e13, 3);
  m.sigma = {10, 10, 10};
  const double factor = dispersion_factor(m, grid, dt, f);
  const Medium scaled = dispersion_corrected(m, grid, dt, f);
  EXPECT_NEAR(std::abs(permittivity(scaled, 2, 3e14) / permittivity(m, 2, 3e14) - factor), 0,
              1e-12);
  // The pole's own error of the time step, (w dt)^2/12 towards higher index, is in it: more than a
  // medium of that index asks for.
  Medium plain;
  plain.eps.fill(permittivity(m, 2, f).real());
  EXPECT_LT(factor, dispersion_factor(plain, grid, dt, f));
  EXPECT_LT(factor, 1);
}

TEST(DispersionCorrection, MetalsAndConductorsStay) {
  const YeeGrid grid = uniform_grid({1e-6, 1e-6, 0}, 20e-9);
  Medium metal, conductor;
  metal.poles = drude(2e15, 1e13);
  conductor.pec = true;
  const double dt = 0.9 * stable_time_step(grid);
  EXPECT_EQ(dispersion_factor(metal, grid, dt, 2e14), 1);
  EXPECT_EQ(dispersion_factor(conductor, grid, dt, 2e14), 1);
}

TEST(DispersionCorrection, UnevenOrTooCoarseCellsAreRefused) {
  YeeGrid grid = uniform_grid({1, 1, 0}, 0.1);
  const double dt = 0.5 * stable_time_step(grid);
  EXPECT_THROW(dispersion_factor(glass(), grid, dt, 1e9), Error);  // a wavelength of 0.15 m
  EXPECT_THROW(dispersion_factor(glass(), grid, dt, 0.6 / dt), Error);
  EXPECT_NO_THROW(dispersion_factor(glass(), grid, dt, 1e8));
  grid.lines[0][3] += 0.01;
  EXPECT_THROW(dispersion_factor(glass(), grid, dt, 1e8), Error);
}

/// Nothing runs along a period of one cell, however long: the plane is all there is.
TEST(DispersionCorrection, APeriodOfOneCellIsNoDirection) {
  const double h = 1e-2, f = speed_of_light / (2 * 20 * h), dt = 0.5 * h / speed_of_light;
  const YeeGrid plane = uniform_grid({1, 1, 0}, h), line = uniform_grid({1, 0, 0}, h);
  for (const double length : {h, 30 * h}) {
    YeeGrid one = plane;
    one.lines[2] = {0, length};
    one.one_cell_period[2] = true;
    EXPECT_EQ(dispersion_factor(glass(), one, dt, f), dispersion_factor(glass(), plane, dt, f));
    one.lines[1] = {0, length};
    one.one_cell_period[1] = true;
    EXPECT_EQ(dispersion_factor(glass(), one, dt, f), dispersion_factor(glass(), line, dt, f));
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
