// SPDX-License-Identifier: Apache-2.0
//
// Plane waves in a box: what leaks out of it, and what is inside, against the scheme's dispersion
// relation.
#include "tessera/electromagnetics/plane_wave.h"

#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/constants.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
constexpr Faces layers{};
/// 20 cells in the wavelength at which the spectrum is down by 20 dB.
Waveform pulse() {
  return gaussian_pulse(0.6 * speed_of_light / (20 * cell), 0.8 * speed_of_light / (20 * cell));
}
Medium filled(double eps, double mu) { return {.eps = {eps, eps, eps}, .mu = {mu, mu, mu}}; }

struct Extremes {
  double inside = 0, outside = 0;
  double leak_db() const { return 20 * std::log10(outside / inside); }
};
/// Cells that shrink to a third and grow again, within [from, to] of the axis: as many lines, with
/// the axis as long as before.
void make_uneven(std::vector<double>& lines, int from, int to) {
  const double begin = lines[static_cast<std::size_t>(from)],
               span = lines[static_cast<std::size_t>(to)] - begin;
  std::vector<double> share{0};
  for (int i = from; i < to; ++i)
    share.push_back(share.back() + 2 + std::cos(2 * pi * (i - from + 0.5) / (to - from)));
  for (int i = from; i <= to; ++i)
    lines[static_cast<std::size_t>(i)] =
        begin + span * share[static_cast<std::size_t>(i - from)] / share.back();
}

/// The largest |e| in and out of the box at every 20th step.
Extremes extremes(const std::array<int, 3>& size, const std::array<Faces, 3>& faces,
                  const PlaneWave& wave, int steps, std::array<int, 3> uneven = {-1, 0, 0}) {
  YeeGrid grid = uniform_grid({size[0] * cell, size[1] * cell, size[2] * cell}, cell);
  if (uneven[0] >= 0)
    make_uneven(grid.lines[static_cast<std::size_t>(uneven[0])], uneven[1], uneven[2]);
  const double dt = 0.95 * stable_time_step(grid);
  TimeDomain run(yee_model(grid, faces, {.cells = 6, .index = std::sqrt(wave.eps * wave.mu)}, dt,
                           Dtype::f64, {}, {filled(wave.eps, wave.mu)}),
                 {plane_wave(grid, faces, dt, wave)}, {});
  const auto nearest = [&](int d, double at) {
    const std::vector<double>& x = grid.lines[static_cast<std::size_t>(d)];
    return *std::min_element(x.begin(), x.end(), [at](double a, double b) {
      return std::abs(a - at) < std::abs(b - at);
    });
  };
  Extremes out;
  for (int s = 0; s < steps; s += 20) {
    run.advance(20);
    for (int c = 0; c < 3; ++c) {
      const auto last = [&](int d) {
        return grid.cells(d) - (at_middle(c, d) || !grid.resolved(d) ? 1 : 0);
      };
      for (int k = 0; k <= last(2); ++k)
        for (int j = 0; j <= last(1); ++j)
          for (int i = 0; i <= last(0); ++i) {
            const Edge e{static_cast<std::uint8_t>(c), i, j, k};
            const Point p = grid.position(e);
            bool inside = true;
            for (int d = 0; d < 3; ++d)
              if (grid.resolved(d) && (p[d] < nearest(d, wave.low[d]) - 1e-6 * cell ||
                                       p[d] > nearest(d, wave.high[d]) + 1e-6 * cell))
                inside = false;
            double& most = inside ? out.inside : out.outside;
            most = std::max(most, std::abs(run.unknown(e)));
          }
    }
  }
  return out;
}

/// On one thread: threads that wait for each other cost more than these small grids.
class PlaneWaveTest : public ::testing::Test {
 protected:
  PlaneWaveTest() { set_num_threads(1); }
  ~PlaneWaveTest() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

// Rounding of the filters at 1e-12 and the polynomial's (k d)^6 / 200, d = cell/4, are some 1e-10
// at 20 cells a wavelength.
constexpr double bar_db = -160;

TEST_F(PlaneWaveTest, LeaksNothingInTwoDimensions) {
  for (const double angle : {0.0, 20.0, 45.0, 110.0, 250.0}) {
    const Point u = unit_vector({pi / 2, angle * pi / 180});
    PlaneWave wave{.direction = u,
                   .polarization = {0, 0, 1},
                   .waveform = pulse(),
                   .low = cells(-12, -9, 0),
                   .high = cells(12, 9, 0)};
    const Extremes ez = extremes({40, 34, 0}, {layers, layers, layers}, wave, 500);
    EXPECT_LT(ez.leak_db(), bar_db) << angle;
    EXPECT_NEAR(ez.inside, 0.9, 0.05);
    wave.polarization = {-u[1], u[0], 0};
    EXPECT_LT(extremes({40, 34, 0}, {layers, layers, layers}, wave, 500).leak_db(), bar_db)
        << angle;
  }
}

TEST_F(PlaneWaveTest, LeaksNothingInThreeDimensions) {
  for (const auto& [theta, phi, turn] :
       {std::array{30.0, 20.0, 0.3}, std::array{60.0, 45.0, 1.1}, std::array{120.0, 200.0, 2.0}}) {
    const PlaneWave wave{.direction = unit_vector({theta * pi / 180, phi * pi / 180}),
                         .polarization = {std::cos(turn), std::sin(turn), 0.3},
                         .waveform = pulse(),
                         .low = cells(-6, -5, -4),
                         .high = cells(6, 5, 4)};
    EXPECT_LT(extremes({28, 26, 24}, {layers, layers, layers}, wave, 400).leak_db(), bar_db)
        << theta;
  }
}

TEST_F(PlaneWaveTest, LeaksNothingInMatterAndWithOpenSides) {
  PlaneWave wave{.direction = unit_vector({pi / 2, 0.5}),
                 .polarization = {-std::sin(0.5), std::cos(0.5), 0},
                 .waveform = pulse(),
                 .low = cells(-12, -9, 0),
                 .high = cells(12, 9, 0),
                 .eps = 3,
                 .mu = 1.5};
  EXPECT_LT(extremes({40, 34, 0}, {layers, layers, layers}, wave, 900).leak_db(),
            -140);  // 9 cells a wavelength
  wave = {.direction = {-1, 0, 0},
          .polarization = {0, 1, 0},
          .waveform = pulse(),
          .low = cells(-20, -8, 0),
          .high = cells(20, 8, 0)};
  EXPECT_LT(extremes({60, 0, 0}, {layers, layers, layers}, wave, 500).leak_db(), bar_db);
  EXPECT_LT(extremes({60, 16, 0}, {layers, joined, layers}, wave, 500).leak_db(), bar_db);
  EXPECT_LT(extremes({60, 16, 0}, {layers, pec, layers}, wave, 500).leak_db(), bar_db);
  wave.polarization = {0, 0, 2};
  EXPECT_LT(extremes({60, 16, 0}, {layers, pmc, layers}, wave, 500).leak_db(), bar_db);
  wave.high[1] = 2 * cell;  // beside a mirror, half a box
  EXPECT_LT(extremes(
                {60, 30, 0}, {layers, Faces{Boundary::pmc, Boundary::pml}, layers},
                [&] {
                  wave.low[1] = -15 * cell;
                  return wave;
                }(),
                500)
                .leak_db(),
            bar_db);
}

TEST_F(PlaneWaveTest, LeaksNothingWhereCellsAreUneven) {
  // Cells of 0.5 to 1.5 times the mean, along the direction and within the box or across its faces.
  const Waveform slow =
      gaussian_pulse(0.4 * speed_of_light / (20 * cell), 0.5 * speed_of_light / (20 * cell));
  PlaneWave wave{.direction = {1, 0, 0},
                 .polarization = {0, 0, 1},
                 .waveform = slow,
                 .low = cells(-20, -8, 0),
                 .high = cells(20, 8, 0)};
  EXPECT_LT(extremes({60, 0, 0}, {layers, layers, layers}, wave, 900, {0, 16, 44}).leak_db(),
            bar_db);
  EXPECT_LT(extremes({60, 30, 0}, {layers, layers, layers}, wave, 900, {0, 6, 54}).leak_db(),
            bar_db);
  wave.direction = {-1, 0, 0}, wave.polarization = {0, 1, 0};
  const Extremes back = extremes({60, 30, 0}, {layers, layers, layers}, wave, 900, {0, 12, 40});
  EXPECT_LT(back.leak_db(), bar_db);
  EXPECT_NEAR(back.inside, 2 * 0.95,
              0.2);  // e = E ds/l, ds the mean cell, l the smallest, half of it
  wave = {.direction = {0, 0, 1},
          .polarization = {1, 0.4, 0},
          .waveform = slow,
          .low = cells(-5, -5, -8),
          .high = cells(5, 5, 8)};
  EXPECT_LT(extremes({24, 24, 30}, {layers, layers, layers}, wave, 500, {2, 8, 22}).leak_db(),
            bar_db);
  // At an angle where the cells from one before the box to one behind it are even.
  wave = {.direction = {1, 0.6, 0},
          .polarization = {0, 0, 1},
          .waveform = slow,
          .low = cells(-12, -9, 0),
          .high = cells(2, 9, 0)};
  EXPECT_LT(extremes({60, 34, 0}, {layers, layers, layers}, wave, 900, {0, 36, 54}).leak_db(),
            bar_db);
  EXPECT_THROW(extremes({60, 34, 0}, {layers, layers, layers}, wave, 20, {0, 20, 54}), Error);
}

TEST_F(PlaneWaveTest, ContinuousWaveDoesNotLeakEither) {
  const PlaneWave wave{.direction = {1, 2, 0},
                       .polarization = {0, 0, 1},
                       .waveform = continuous_wave(3e9, 1e-9),
                       .low = cells(-10, -9, 0),
                       .high = cells(10, 9, 0)};
  EXPECT_LT(extremes({36, 34, 0}, {layers, layers, layers}, wave, 1200).leak_db(),
            -110);  // the ramp's spectrum falls off slowly
}

TEST_F(PlaneWaveTest, IsTheWaveformAtTheCornerAndObeysTheDispersionRelation) {
  const YeeGrid grid = uniform_grid({28 * cell, 26 * cell, 24 * cell}, cell);
  const std::array<Faces, 3> faces{};
  const double dt = 0.95 * stable_time_step(grid);
  const PlaneWave wave{.direction = {-1, 2, 3},
                       .polarization = {1, 0.5, 0},
                       .amplitude = 3,
                       .waveform = pulse(),
                       .low = cells(-7, -6, -5),
                       .high = cells(7, 6, 5)};
  const Point corner = first_corner(grid, faces, wave), at = cells(2.5, 1, -2);
  EXPECT_NEAR(corner[0], 7 * cell, 1e-12);
  EXPECT_NEAR(corner[2], -5 * cell, 1e-12);
  SampleList samples(grid, faces);  // E_x lies at `at`; H_x and H_y half a cell beside it
  samples.add(Ex, at);
  samples.add(Hy, cells(2.5, 1, -1.5));
  TimeDomain run(yee_model(grid, faces, {.cells = 6}, dt, Dtype::f64, {}, {Medium{}}),
                 {plane_wave(grid, faces, dt, wave)}, samples.edges());
  const double f = 2.1e9, w = 2 * pi * f;
  RunningDft dft({f}, dt, samples.edges());
  run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1,
              [&](const Records& r) { dft.add(r); });
  const std::vector<double> frequency{f};
  const std::complex<double> given =
      spectrum(wave.waveform, frequency, dt, static_cast<int>(wave.waveform.end_s / dt) + 2)[0];
  const auto values = dft.values(samples).to_vector<c128>();

  const Point u{-1 / std::sqrt(14.0), 2 / std::sqrt(14.0), 3 / std::sqrt(14.0)};
  const double k = grid_wavenumber({cell, cell, cell}, dt, u, 1, f);
  Point numerical, e;
  double sum = 0, along = 0, distance = 0;
  for (int d = 0; d < 3; ++d) {
    numerical[d] = 2 / cell * std::sin(k * u[d] * cell / 2);
    sum += numerical[d] * numerical[d];
    distance += u[d] * (at[d] - corner[d]);
  }
  const double omega = 2 / dt * std::sin(w * dt / 2);
  EXPECT_NEAR(sum * speed_of_light * speed_of_light / (omega * omega), 1, 1e-13);
  EXPECT_GT(k * speed_of_light / w, 1 + 1e-4);  // slower than light
  // p is first cut to the plane across u, then to the one across K.
  Point p{1, 0.5, 0};
  const double up = u[0] * p[0] + u[1] * p[1];
  for (int d = 0; d < 3; ++d) p[d] -= up * u[d];
  for (int d = 0; d < 3; ++d) along += numerical[d] * p[d] / sum;
  double length = 0;
  for (int d = 0; d < 3; ++d) {
    e[d] = p[d] - along * numerical[d];
    length += e[d] * e[d];
  }
  const std::complex<double> there =
      3.0 * given * std::polar(1.0, -k * distance) / std::sqrt(length);
  EXPECT_LT(std::abs(values[0] - there * e[0]) / std::abs(there), 1e-8);
  // H = K x E / (mu Omega) makes E x H lie along K; a plane across d sees half a cell less in
  // phase.
  double flow = 0;
  for (int d = 0; d < 3; ++d)
    flow += std::pow(numerical[d] * std::cos(k * u[d] * cell / 2), 2) / sum;
  EXPECT_NEAR(incident_flow(grid, faces, dt, wave, f), std::sqrt(flow), 1e-12);
  const double hy = (numerical[2] * e[0] - numerical[0] * e[2]) / (vacuum_permeability * omega);
  EXPECT_LT(std::abs(values[1] - there * hy * std::polar(1.0, -k * u[2] * cell / 2)) *
                vacuum_impedance / std::abs(there),
            1e-8);
}

TEST_F(PlaneWaveTest, IsTheSameHoweverStepsAreAskedFor) {
  const YeeGrid grid = uniform_grid({30 * cell, 30 * cell, 0}, cell);
  const PlaneWave wave{.direction = {1, 0.3, 0},
                       .polarization = {0, 0, 1},
                       .waveform = pulse(),
                       .low = cells(-8, -8, 0),
                       .high = cells(8, 8, 0)};
  const Injection s =
      plane_wave(grid, {layers, layers, layers}, 0.9 * stable_time_step(grid), wave);
  const std::size_t n = s.edges.size();
  std::vector<double> once(50 * n), parts(50 * n);
  s.fill(70, 50, once.data());
  s.fill(70, 7, parts.data());
  s.fill(77, 43, parts.data() + 7 * n);
  EXPECT_EQ(once, parts);
}

TEST_F(PlaneWaveTest, RefusesWhatItCannotDo) {
  const YeeGrid grid = uniform_grid({40 * cell, 34 * cell, 0}, cell);
  const double dt = 0.9 * stable_time_step(grid);
  const PlaneWave good{.direction = {1, 0, 0},
                       .polarization = {0, 0, 1},
                       .waveform = pulse(),
                       .low = cells(-8, -8, 0),
                       .high = cells(8, 8, 0)};
  const auto refuses = [&](const std::array<Faces, 3>& faces, auto change, const char* what) {
    PlaneWave wave = good;
    change(wave);
    try {
      plane_wave(grid, faces, dt, wave);
      ADD_FAILURE() << what;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  const std::array<Faces, 3> open{};
  refuses(
      open,
      [](PlaneWave& w) {
        w.direction = {1, 0, 1};
      },
      "fills axis z");
  refuses(
      open,
      [](PlaneWave& w) {
        w.polarization = {2, 0, 0};
      },
      "points along the direction");
  refuses(
      open, [](PlaneWave& w) { w.direction = {}; }, "finite length");
  refuses(
      open, [](PlaneWave& w) { w.high[0] = 1; }, "room to the sides");
  refuses(
      open, [](PlaneWave& w) { w.high[0] = w.low[0]; }, "cell of width");
  refuses(
      open, [](PlaneWave& w) { w.waveform = gaussian_pulse(2e10, 2e10); }, "smaller cells");
  refuses(
      {layers, joined, layers},
      [](PlaneWave& w) {
        w.low[1] = -1, w.high[1] = 1, w.direction = {1, 0.1, 0};
      },
      "fills axis y");
  refuses(
      {layers, pec, layers}, [](PlaneWave& w) { w.low[1] = -1, w.high[1] = 1; },
      "mirror on axis y");
}

}  // namespace
}  // namespace tessera::electromagnetics
