// SPDX-License-Identifier: Apache-2.0
//
// Modes of a round rod, whose sides run across the grid: against its transcendental equation.
#include "guides.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/grid_modes.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/solvers/eigenpairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
using namespace guides;

/// The index of HE11 of a round rod in vacuum (A. Snyder & J. Love, Optical Waveguide Theory, 1983,
/// table 12-4): the largest root.
double rod_index(double core, double radius, double wavelength) {
  const double k0 = 2 * pi / wavelength;
  const auto off = [&](double n) {
    const double u = k0 * radius * std::sqrt(core * core - n * n),
                 w = k0 * radius * std::sqrt(n * n - 1);
    const double j = std::cyl_bessel_j(0, u) / (u * std::cyl_bessel_j(1, u)) - 1 / (u * u),
                 k = -std::cyl_bessel_k(0, w) / (w * std::cyl_bessel_k(1, w)) - 1 / (w * w),
                 both = 1 / (u * u) + 1 / (w * w);
    return (j + k) * (core * core * j + k) - n * n * both * both;
  };
  double high = core - 1e-6;
  for (double low = high; low > 1.001; low -= 1e-4) {
    if (off(low) * off(high) > 0) {
      high = low;
      continue;
    }
    for (int halving = 0; halving < 60; ++halving) {
      const double n = (low + high) / 2;
      (off(n) * off(high) > 0 ? high : low) = n;
    }
    return low;
  }
  return 0;
}

TEST(GridModes, OfARoundRodConverge) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "no SLEPc";
  const double wavelength = 1, radius = 0.4, core = 1.9,
               exact = rod_index(core, radius, wavelength);
  ASSERT_GT(exact, 1.2);
  std::vector<Medium> media(2);
  media[1].eps.fill(core * core);
  Scene scene;
  scene.structures = {{cylinder({0.013, 0, 0}, radius, INFINITY), 1}};
  for (const Averaging averaging : {Averaging::kottke, Averaging::corners}) {
    std::vector<double> off;
    for (const int cells : {10, 20}) {
      const double cell = wavelength / cells;
      YeeGrid grid;
      for (const int d : {0, 1})
        for (int i = -3 * cells / 2; i <= 3 * cells / 2; ++i) grid.lines[d].push_back(i * cell);
      grid.lines[2] = even(4, cell);
      const YeeModel m = yee_model(grid, {walls, walls, period}, {}, 0.9 * stable_time_step(grid),
                                   Dtype::f64, scene, media, averaging);
      EXPECT_FALSE(m.tensors.empty());
      const GridModes found =
          grid_modes(m, {2, 2}, {.frequency_hz = speed_of_light / wavelength, .count = 2});
      for (const std::size_t k : {0u, 1u}) {  // one of each polarization
        EXPECT_LE(found.modes[k].residual, 1e-9);
        if (k == 0) off.push_back(std::abs(found.modes[k].index.real() / exact - 1));
      }
    }
    // At 20 cells a wavelength in vacuum, 10 in the rod: dispersion of the grid.
    EXPECT_LT(off[1], 0.012);
    EXPECT_LT(off[1], 0.4 * off[0]);
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
