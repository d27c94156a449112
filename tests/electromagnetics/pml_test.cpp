// SPDX-License-Identifier: Apache-2.0
//
// The absorbing layers: what comes back from them, measured against a domain so large that nothing
// comes back in time.
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/time_domain.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {
namespace {

/// E_z of a line current at the corner of two magnetic mirrors (so, in the middle of a domain four
/// times the size), [point][step].
std::vector<std::vector<double>> line_source(int nx, int ny, const Waveform& w,
                                             const std::vector<Point>& at, int steps) {
  const YeeGrid grid =
      uniform_grid({nx * cell, ny * cell, 0}, cell, {nx * cell / 2, ny * cell / 2, 0});
  const Faces half{Boundary::pmc, Boundary::pml};
  const std::array<Faces, 3> faces{half, half, Faces{}};
  const double dt = 0.95 * stable_time_step(grid);
  SampleList samples(grid, faces);
  for (const Point& p : at) samples.add(Ez, p);
  YeeModel model = yee_model(grid, faces, {}, dt, Dtype::f64, {}, {Medium{}});
  model.active = {false, false, true, true, true, false};
  TimeDomain run(std::move(model),
                 {current_source(grid, faces, dt, Ez, {0, 0, 0}, {0, 0, 0}, 1, w)},
                 samples.edges());
  std::vector<std::vector<double>> out(at.size());
  run.advance(steps, [&](const Records& r) {
    for (std::int64_t n = 0; n < r.n_steps; ++n)
      for (std::size_t q = 0; q < at.size(); ++q)
        out[q].push_back(samples.value(static_cast<std::int64_t>(q), r.step(n).data()));
  });
  return out;
}

/// On one thread: threads that wait for each other cost more than these small grids.
class PmlTest : public ::testing::Test {
 protected:
  PmlTest() { set_num_threads(1); }
  ~PmlTest() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(PmlTest, TenCellsReturnLessThanEightyDecibels) {
  // A line current 30 cells in front of the layer of 10 cells, 20 cells in the shortest wavelength.
  // Points two cells in front of the layer: straight ahead, where a reflection from the layer's
  // face comes at 60 degrees, and 73 degrees off.
  const std::vector<Point> at{
      {28 * cell, 0, 0}, {28 * cell, 55 * cell, 0}, {28 * cell, 90 * cell, 0}};
  const double highest = speed_of_light / (20 * cell);
  const int steps = 620;  // 416 cells of light: from 210 cells nothing is back, the pulse's first
                          // 50 cells being below 1e-6
  for (const Waveform& w : {gaussian_pulse(0.6 * highest, 0.8 * highest), ricker(highest / 2.5)}) {
    const auto small = line_source(40, 130, w, at, steps),
               large = line_source(220, 250, w, at, steps);
    for (std::size_t q = 0; q < at.size(); ++q) {
      double error = 0, peak = 0;
      for (std::size_t n = 0; n < small[q].size(); ++n) {
        error = std::max(error, std::abs(small[q][n] - large[q][n]));
        peak = std::max(peak, std::abs(large[q][n]));
      }
      const double db = 20 * std::log10(error / peak);
      EXPECT_LT(db, q == 2 ? -80 : -95) << q;
      RecordProperty("point" + std::to_string(q), std::to_string(db));
    }
  }
}

TEST_F(PmlTest, GuidesThatRunIntoTheLayersStayQuiet) {
  // A slab of permittivity 12 through the layers at both ends, evanescent fields beside it into the
  // layers: 12000 steps.
  const YeeGrid grid = uniform_grid({60 * cell, 44 * cell, 0}, cell);
  const std::array<Faces, 3> faces{};
  const double dt = 0.99 * stable_time_step(grid), infinite = 10;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    Scene scene;
    scene.structures.push_back({box({0, 0, 0}, {infinite, 6 * cell, infinite}), 1});
    Medium slab;
    slab.eps = {12, 12, 12};
    const Waveform w = gaussian_pulse(1.5e9, 2.5e9);
    TimeDomain run(yee_model(grid, faces, {}, dt, dtype, scene, {Medium{}, slab}),
                   {current_source(grid, faces, dt, Ez, {0, cell, 0}, {0, cell, 0}, 1, w),
                    current_source(grid, faces, dt, Ey, {0, 0, 0}, {0, 0, 0}, 1, w)},
                   {});
    double highest = 0, last = 0;
    for (int s = 0; s < 12000; s += 200) {
      run.advance(200);
      last = run.energy_j();
      highest = std::max(highest, last);
      if (s > 4000) {  // what is left, near zero frequency, goes on falling
        EXPECT_LT(last, 1e-11 * highest) << s;
      }
    }
    EXPECT_LT(last, 2e-13 * highest);
  }
}

TEST_F(PmlTest, ProfileIsTheFormulaAndKnowsNoScale) {
  const Pml pml{.cells = 4,
                .order = 3,
                .sigma_factor = 1.3,
                .kappa_max = 6,
                .alpha_factor = 0.4,
                .index = 1.5};
  std::vector<double> metres, nanometres;
  for (int i = 0; i <= 12; ++i) metres.push_back(i), nanometres.push_back(i * 1e-9);
  const double dt = 0.5 / speed_of_light;
  for (const bool middles : {false, true}) {
    const PmlProfile a = pml_profile(metres, {Boundary::pec, Boundary::pml}, pml, dt, middles),
                     b = pml_profile(nanometres, {Boundary::pec, Boundary::pml}, pml, dt * 1e-9,
                                     middles);
    for (int i = 0; i < 12 + (middles ? 0 : 1); ++i) {
      const double u = (i + (middles ? 0.5 : 0) - 8) / 4;
      EXPECT_NEAR(a.b[i], b.b[i], 1e-12);
      EXPECT_NEAR(a.c[i], b.c[i], 1e-12);
      if (u <= 0) {
        EXPECT_EQ(a.c[i], 0);
        continue;
      }
      const double sigma = 1.3 * 0.8 * 4 / 1.5 * u * u * u, kappa = 1 + 5 * u * u * u,
                   alpha = 0.4 / (4 * 1.5) * (1 - u);  // in units of eps0 c / m
      EXPECT_NEAR(a.b[i], std::exp(-(sigma / kappa + alpha) * 0.5), 1e-12);
      EXPECT_NEAR(a.c[i], sigma / (sigma * kappa + kappa * kappa * alpha) * (a.b[i] - 1), 1e-12);
      EXPECT_NEAR(a.m[i], 1 / kappa - 1, 1e-14);
    }
  }
}

/// What runs into the layers is taken as linear, and by its diagonal, from the same place on at
/// both ends of an axis: an oblique slab, or a Kerr medium, seen in a mirror gives the mirrored
/// fields.
TEST_F(PmlTest, AMirrorImageIsTheMirroredRun) {
  const int n = 40;
  const YeeGrid grid = uniform_grid({n * cell, n * cell, 0}, cell);
  const std::array<Faces, 3> faces{pml, pml, joined};
  const double dt = 0.9 * stable_time_step(grid);
  const auto run = [&](double sign, double eps, double chi3) {
    std::vector<Medium> media(2);
    media[0].chi3 = chi3;
    media[1].eps = {eps, eps, eps};
    Scene scene;
    if (eps > 1)
      scene.structures = {{rotate(box({-1, -3.13 * cell, -1}, {1, 2.87 * cell, 1}),
                                  rotation_about({0, 0, 1}, sign * 0.436)),
                           1}};
    YeeModel model = yee_model(grid, faces, {.cells = 8}, dt, Dtype::f64, scene, media);
    model.active = {true, true, false, false, false, true};
    const Point at = cells(sign * 6, 3.5, 0);
    TimeDomain out(std::move(model),
                   {current_source(grid, faces, dt, Ey, at, at, 1, gaussian_pulse(4e9, 3e9))}, {});
    return out;
  };
  double peak = 0;
  TimeDomain linear = run(1, 1, 0);
  for (int k = 0; k < 20; ++k) linear.advance(20), peak = std::max(peak, linear.peak().value);
  for (const auto& [eps, chi3] : {std::pair{12.0, 0.0}, {1.0, 1 / (peak * peak)}}) {
    TimeDomain one = run(1, eps, chi3), other = run(-1, eps, chi3);
    one.advance(500), other.advance(500);
    const double largest = one.peak().value;
    for (int j = 0; j < n; ++j)
      for (int i = 1; i < n; ++i)
        ASSERT_NEAR(one.unknown({Ey, i, j, 0}), other.unknown({Ey, n - i, j, 0}), 1e-10 * largest)
            << eps << ' ' << i << ' ' << j;
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
